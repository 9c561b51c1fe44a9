// SPDX-License-Identifier: MIT
#include "harness/replay/replay.hpp"

#include "harness/replay/method.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

std::unique_ptr<scenario::Source> builtin(const char* name, std::size_t entities = 0) {
  auto source = scenario::make_builtin(name, entities);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

ReplayOptions over(const char* network, double seconds = 10.0) {
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = seconds;
  return options;
}

Figures figures_of(const scenario::Source& source, const ReplayOptions& options) {
  const auto result = replay(source, options);
  EXPECT_TRUE(result) << result.error();
  return result ? result->run : Figures{};
}

// All shown poses as bytes.
std::string shown_by(const scenario::Source& source, const ReplayOptions& options, double until_s = 1e9) {
  std::string all;
  const auto result = replay(source, options, [&](double time_s, std::span<const ShownPose> shown) {
    if (time_s > until_s) return;
    for (const ShownPose& pose : shown) {
      const double numbers[] = {time_s,
                                static_cast<double>(pose.entity),
                                pose.shown_time_s,
                                pose.pose.position.x,
                                pose.pose.position.y,
                                pose.pose.position.z,
                                pose.pose.orientation.w,
                                pose.pose.orientation.x,
                                pose.pose.orientation.y,
                                pose.pose.orientation.z};
      all.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    }
  });
  EXPECT_TRUE(result) << result.error();
  return all;
}

TEST(Replay, SameSeedGivesTheSameBits) {
  const auto source = builtin("crowd", 8);
  ReplayOptions options = over("mobile");
  const std::string once = shown_by(*source, options);
  EXPECT_GT(once.size(), 100'000u);
  EXPECT_TRUE(once == shown_by(*source, options));
  options.seed = 2;
  EXPECT_FALSE(once == shown_by(*source, options));
}

TEST(Replay, ModeMayChangeDuringARun) {
  const auto source = builtin("crowd", 6);
  ReplayOptions options = over("intercity", 18.0);
  const Figures present = figures_of(*source, options);
  options.playout.mode = PlayoutMode::adaptive;
  const Figures past = figures_of(*source, options);
  const PlayoutConfig adaptive = options.playout;
  options.playout = {};
  options.switches = {{5.0, adaptive}, {10.0, {}}, {14.0, adaptive}};
  const Figures both = figures_of(*source, options);
  EXPECT_EQ(present.delay_ms.max, 0.0);
  // Shortly after the change, the measured gaps still come from present mode.
  EXPECT_GT(both.delay_ms.max, 0.8 * past.delay_ms.mean);
  EXPECT_GT(both.delay_ms.mean, 0.2 * past.delay_ms.mean);
  EXPECT_LT(both.delay_ms.mean, 0.9 * past.delay_ms.mean);
  EXPECT_LT(both.velocity_step_mps.max,
            1.3 * std::max(present.velocity_step_mps.max, past.velocity_step_mps.max));
  EXPECT_EQ(both.missing_s, 0.0);
}

TEST(Replay, EveryMethodShowsAllEntities) {
  const auto source = builtin("crowd", 6);
  for (const std::string& method : method_names()) {
    ReplayOptions options = over("intercity");
    options.method = method;
    options.budget.updates_per_second = 10.0;
    const Figures figures = figures_of(*source, options);
    EXPECT_LT(figures.missing_s, 0.005 * figures.entity_seconds) << method;
    EXPECT_EQ(figures.ghost_s, 0.0) << method;
    EXPECT_GT(figures.frames.counted, 2000u) << method;
    EXPECT_LT(figures.shown_error_m.p95, 2.0) << method;
  }
}

TEST(Replay, ReckonerIsSmootherThanSnapAtTheSameRate) {
  const auto source = builtin("traffic", 8);
  ReplayOptions options = over("intercity", 20.0);
  const Figures reckoner = figures_of(*source, options);
  options.method = "snap";
  const Figures snap = figures_of(*source, options);
  EXPECT_NEAR(updates_per_s(snap), updates_per_s(reckoner), 0.15 * updates_per_s(reckoner));
  EXPECT_LT(reckoner.now_error_m.p95, snap.now_error_m.p95);
  EXPECT_LT(reckoner.velocity_step_mps.max, snap.velocity_step_mps.max);
}

TEST(Replay, ClockIsEstimatedAndCounted) {
  const auto source = builtin("orbit", 2);
  const Figures figures = figures_of(*source, over("intercity"));
  ASSERT_TRUE(figures.clock_error_ms.has_value());
  EXPECT_GT(figures.clock_error_ms->max, 0.0);
  EXPECT_LT(figures.clock_error_ms->p95, 8.0);
}

TEST(Replay, VisitorsAppearAndDisappearInTime) {
  const auto source = builtin("visitors");
  const Figures figures = figures_of(*source, over("intercity", 40.0));
  EXPECT_LE(figures.missing_s, 0.005 * figures.entity_seconds);
  EXPECT_LE(figures.ghost_s, 0.005 * figures.entity_seconds);
}

TEST(Replay, TeleportsAreNeverBlended) {
  const auto source = builtin("hop");
  for (const char* method : {"reckoner", "snap", "hermite-buffer"}) {
    ReplayOptions options = over("intercity", 25.0);
    options.method = method;
    options.budget.updates_per_second = 20.0;
    const Figures figures = figures_of(*source, options);
    EXPECT_GT(figures.teleports, 0u) << method;
    EXPECT_EQ(figures.between_teleport_frames, 0u) << method;
  }
}

TEST(Replay, BufferedModeShowsThePast) {
  const auto source = builtin("orbit", 3);
  ReplayOptions options = over("broadband");
  options.playout.mode = PlayoutMode::delayed;
  options.playout.delay_s = 0.4;
  const Figures figures = figures_of(*source, options);
  EXPECT_NEAR(figures.delay_ms.mean, 400.0, 10.0);
  EXPECT_LT(figures.shown_error_m.p95, 0.2 * figures.now_error_m.p95);
}

TEST(Replay, AdaptiveModeShowsFrequentUpdatesWithLittleDelay) {
  for (const char* name : {"traffic", "football"}) {
    const auto source = builtin(name);
    for (const double updates_hz : {30.0, 60.0}) {
      ReplayOptions options = over("lan", 15.0);
      options.budget.updates_per_second = updates_hz;
      options.playout.mode = PlayoutMode::adaptive;
      const Figures figures = figures_of(*source, options);
      SCOPED_TRACE(name + std::to_string(updates_hz));
      // The gap of two ticks or one, the lateness of datagrams, and a little for the beginning.
      EXPECT_LT(figures.delay_ms.mean, updates_hz > 30.0 ? 24.0 : 40.0);
      EXPECT_LT(figures.shown_error_m.p95, 0.002);
    }
  }
}

// A trace of `count` samples at 60 Hz that wanders about.
std::string wandering_trace(int count) {
  std::ostringstream text;
  text << "t,x,y,z\n";
  for (int i = 0; i < count; ++i) {
    const double t = i / 60.0;
    text << t << ',' << 3.0 * std::sin(1.3 * t) + std::sin(5.1 * t) << ',' << 2.0 * std::cos(2.1 * t)
         << ",0\n";
  }
  return text.str();
}

TEST(Replay, NoMethodUsesTheFuture) {
  constexpr double kCutS = 599 / 60.0;
  const auto whole = scenario::parse_trace(wandering_trace(900), "whole");
  const auto cut = scenario::parse_trace(wandering_trace(600), "cut");
  ASSERT_TRUE(whole) << whole.error();
  ASSERT_TRUE(cut) << cut.error();
  for (const char* method : {"reckoner", "snap", "projective", "hermite-buffer"}) {
    ReplayOptions options = over("intercity", 0.0);
    options.method = method;
    if (options.method != "reckoner") options.budget.fixed_rate_hz = 10.0;
    const double until_s = kCutS - 2.5 / 60.0;
    const std::string shown = shown_by(**whole, options, until_s);
    EXPECT_GT(shown.size(), 10'000u) << method;
    EXPECT_TRUE(shown == shown_by(**cut, options, until_s)) << method;
  }
}

TEST(Replay, PacketsAddUpToTheTraffic) {
  const auto source = builtin("crowd", 5);
  ReplayOptions options = over("mobile");
  options.log_packets = true;
  options.method = "snap";
  options.budget.fixed_rate_hz = 10.0;
  const auto result = replay(*source, options);
  ASSERT_TRUE(result) << result.error();
  std::uint64_t wire_bytes = 0;
  std::uint64_t entities = 0;
  std::uint64_t lost = 0;
  for (const PacketRecord& packet : result->packets) {
    if (!packet.down || packet.duplicate) continue;
    wire_bytes += packet.wire_bytes;
    entities += packet.entities;
    lost += packet.arrived_s ? 0 : 1;
  }
  EXPECT_EQ(wire_bytes, result->run.down->wire_bytes);
  EXPECT_EQ(entities + source->size(), result->run.down->updates);  // one spawn for each entity
  EXPECT_GT(lost, 0u);
}

TEST(Replay, ContentsAddUpToThePayloads) {
  const auto source = builtin("crowd", 40);  // several datagrams in some ticks
  for (const char* method : {"reckoner", "snap", "lerp-buffer"}) {
    ReplayOptions options = over("intercity");
    options.seconds = 8.0;
    options.log_packets = true;
    options.method = method;
    if (options.method != "reckoner") options.budget.fixed_rate_hz = 10.0;
    const auto result = replay(*source, options);
    ASSERT_TRUE(result) << result.error();
    std::map<double, std::size_t> payloads;  // time -> bytes
    for (const PacketRecord& packet : result->packets) {
      if (packet.down && packet.state && !packet.duplicate) payloads[packet.sent_s] += packet.bytes;
    }
    std::set<std::size_t> entities;
    std::uint64_t motions = 0;
    ASSERT_GT(result->contents.size(), 50u) << method;
    for (const TickContents& tick : result->contents) {
      std::uint64_t bits = 0;
      for (const SentPart& part : tick.parts) {
        EXPECT_GT(part.count, 0u) << method << ": " << part.kind;
        bits += part.bits;
        if (part.kind != "motion") continue;
        entities.insert(part.entity);
        motions += part.count;
      }
      EXPECT_EQ(bits, 8 * payloads[tick.sent_s]) << method << " at " << tick.sent_s << " s";
    }
    EXPECT_EQ(entities.size(), source->size()) << method;
    // The first motion of an entity comes with its spawn.
    EXPECT_GE(motions + 2 * source->size(), result->run.down->updates) << method;
    options.log_packets = false;
    EXPECT_TRUE(replay(*source, options)->contents.empty());
  }
}

TEST(Replay, RefusesContradictoryOptions) {
  const auto source = builtin("orbit", 1);
  ReplayOptions options = over("lan");
  options.method = "magic";
  const auto unknown = replay(*source, options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("projective"), std::string::npos) << "names what there is";
  options.method = "reckoner";
  options.budget.updates_per_second = 10.0;
  options.budget.fixed_rate_hz = 10.0;
  EXPECT_FALSE(replay(*source, options));
  options.budget = {};
  options.frame_rate_hz = 0.0;
  EXPECT_FALSE(replay(*source, options));
  options.frame_rate_hz = 60.0;
  options.links.up.loss_percent = 130.0;
  EXPECT_FALSE(replay(*source, options));
}

}  // namespace
}  // namespace reckoner::harness
