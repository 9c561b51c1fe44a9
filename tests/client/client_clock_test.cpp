// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// This motion survives quantisation at the default thresholds unchanged, because it moves by whole steps per
// tick. The server sends no correction, so that any error of the shown velocity comes from the clock.
constexpr double kStepM = 0.05 * 0.185;
const Straight kPath{.velocity = {static_cast<float>(16 * kStepM * 60.0), 0.0f, 0.0f}};

struct Clocks {
  double worst_s = 0.0;     ///< error of the client's server time
  double worst_rate = 0.0;  ///< relative error of the shown velocity, from one picture to the next
};

/// Watches a body at constant velocity from `from_s` to `to_s`. While the connection is silent and motion
/// fades, frames count only for the clock.
Clocks watch(World& world, double from_s, double to_s) {
  Clocks out;
  std::optional<glm::dvec3> before;
  world.add_body(kPath);
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < from_s) return;
    const auto estimate = world.client(client).server_time_s();
    ASSERT_TRUE(estimate);
    out.worst_s = std::max(out.worst_s, std::abs(*estimate - time_s));
    ASSERT_EQ(shown.size(), 1u);
    if (before) {
      const double speed = glm::distance(shown[0].shown.position, *before) * 60.0;
      out.worst_rate = std::max(out.worst_rate, std::abs(speed / double{kPath.velocity.x} - 1.0));
    }
    before = shown[0].shown.position;
  };
  world.run_to(to_s);
  world.on_frame = nullptr;
  return out;
}

TEST(ClientClock, IsAccurateUnderJitterAndLoss) {
  for (const char* name : {"lan", "broadband", "wifi", "intercity", "mobile", "stress"}) {
    for (const bool lossy : {true, false}) {
      harness::LinkOptions link = network(name).down;
      if (!lossy) link.loss_percent = 0.0;
      World world({.links = both_ways(link), .seed = 4});
      world.add_client();
      const Clocks clocks = watch(world, 3.0, 20.0);
      EXPECT_LT(clocks.worst_s, std::string(name) == "stress" ? 0.02 : 0.008) << name;
      // With loss, the connection may be silent for so long that motion fades on purpose.
      if (!lossy) {
        EXPECT_LT(clocks.worst_rate, 0.03) << name;
      }
    }
  }
}

// A client at 30 or 60 frames a second may call update() once per picture. It then reads datagrams up to a
// frame after their arrival. If ticks and frames have related rates, the phase between them is always the
// same.
TEST(ClientClock, IsAccurateWithOneReceivePerFrameIfArrivalTimesAreKnown) {
  for (const double frame_rate_hz : {30.0, 60.0}) {
    for (const double latency_ms : {20.0, 43.0, 61.0}) {
      WorldConfig config;
      config.links = both_ways({.latency_ms = latency_ms});
      config.frame_rate_hz = frame_rate_hz;
      config.updates_per_frame = true;
      config.arrival_times = true;
      World world(config);
      world.add_client();
      EXPECT_LT(watch(world, 5.0, 15.0).worst_s, 0.0003) << frame_rate_hz << " Hz, " << latency_ms << " ms";
    }
  }
}

TEST(ClientClock, FollowsADriftOf50Ppm) {
  for (const double rate : {1.0 - 50e-6, 1.0 + 50e-6}) {
    World world({.links = network("intercity")});
    world.add_client({}, {.offset_s = -12345.0, .rate = rate});
    const Clocks clocks = watch(world, 5.0, 120.0);
    EXPECT_LT(clocks.worst_s, 0.006);  // not the 6 ms of drift in two minutes plus jitter
    EXPECT_LT(clocks.worst_rate, 0.03);
  }
}

TEST(ClientClock, SymmetricDelayChangeCausesNoJump) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});
  config.script = "10 latency-ms=100\n40 latency-ms=40\n";
  double sum_s = 0.0;  // averaged, because the worst moment of one run is random
  for (config.seed = 1; config.seed <= 5; ++config.seed) {
    World world(config);
    world.add_client();
    const Clocks clocks = watch(world, 3.0, 70.0);
    sum_s += clocks.worst_s;
    EXPECT_LT(clocks.worst_rate, 0.03);
  }
  EXPECT_LT(sum_s / 5.0, 0.012);
}

// The estimate uses the minimum delay, which is nearly equal in both directions even if one direction is
// often slower. The mean delays differ by 0.8 of the jitter. An estimate from means would be wrong by half of
// that difference, 0.4 of the jitter.
TEST(ClientClock, IsAccurateUnderJitterInOneDirection) {
  for (const auto& [up_ms, down_ms] :
       {std::pair{0.0, 40.0}, {5.0, 60.0}, {40.0, 0.0}, {60.0, 5.0}, {100.0, 2.0}}) {
    WorldConfig config;
    config.links.up = {.latency_ms = 50.0, .jitter_ms = up_ms};
    config.links.down = {.latency_ms = 50.0, .jitter_ms = down_ms};
    for (config.seed = 1; config.seed <= 6; ++config.seed) {
      World world(config);
      world.add_client({}, {.offset_s = 77.0, .rate = config.seed % 2 == 0 ? 1.0 + 50e-6 : 1.0 - 50e-6});
      const Clocks clocks = watch(world, 5.0, 40.0);
      EXPECT_LT(clocks.worst_s, 0.002 + 0.0001 * std::max(up_ms, down_ms))
          << up_ms << " ms up, " << down_ms << " down, seed " << config.seed;
      EXPECT_LT(clocks.worst_rate, 0.03) << up_ms << " ms up, " << down_ms << " down, seed " << config.seed;
    }
  }
}

// Combines jitter in one direction, clock drift, and a delay that rises and falls in both directions.
TEST(ClientClock, DelayChangeWithJitterAndDriftCausesNoJump) {
  for (const bool down : {true, false}) {
    WorldConfig config;
    config.links.up = {.latency_ms = 40.0, .jitter_ms = down ? 3.0 : 40.0};
    config.links.down = {.latency_ms = 40.0, .jitter_ms = down ? 40.0 : 3.0};
    config.script = "10 latency-ms=100\n40 latency-ms=40\n";
    for (config.seed = 1; config.seed <= 6; ++config.seed) {
      World world(config);
      world.add_client({}, {.offset_s = -77.0, .rate = 1.0 + 50e-6});
      const Clocks clocks = watch(world, 5.0, 70.0);
      EXPECT_LT(clocks.worst_rate, 0.03) << (down ? "down" : "up") << ", seed " << config.seed;
      EXPECT_LT(clocks.worst_s, 0.03) << (down ? "down" : "up") << ", seed " << config.seed;
    }
  }
}

TEST(ClientClock, OneWayDelayChangeCausesHalfOfItAsError) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 2.0});
  config.script = "10 down latency-ms=100\n";
  World world(config);
  world.add_client();
  const Clocks clocks = watch(world, 3.0, 60.0);
  EXPECT_LT(clocks.worst_s, 0.036);
  EXPECT_GT(clocks.worst_s, 0.024);
  EXPECT_LT(clocks.worst_rate, 0.03);
}

TEST(ClientClock, RecoversAfterTheMachineSlept) {
  // The client's clock stops for less time than it takes to lose the connection.
  World world({.links = network("broadband")});
  const Straight path{.velocity = {8.0f, 0.0f, 0.0f}};
  const EntityId id = world.add_body(path);
  const std::size_t client = world.add_client();
  world.run_to(3.0);
  world.set_local_clock(client, {.offset_s = 1000.0 - 12.0});
  world.run_to(30.0);
  EXPECT_EQ(world.client(client).stats().malformed, 0u);
  const ShownEntity* shown = world.shown(client, id);
  ASSERT_NE(shown, nullptr);
  EXPECT_LT(glm::distance(shown->shown.position, path(30.0).position), 0.3);
}

// A game that passes one impossible time, for example after a division by zero, goes on as if nothing had
// happened.
TEST(ClientClock, ImpossibleTimesDoNoHarm) {
  World world({.links = network("lan")});
  world.add_client();
  const EntityId body = world.add_body(kPath);
  world.run_to(3.0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {std::nan(""), kInfinity, -kInfinity, 1e305, -1e305, 1e18, -1e18}) {
    Client& client = world.client(0);
    client.update(wrong);
    (void)client.shown();
    (void)client.shown_poses();
    (void)client.server_time_s();
    (void)client.lost_for_s();
    (void)client.owned(body);
    client.set_paused(false);
    world.server().receive(wrong);
    world.server().tick(wrong);
    world.run_to(world.now_s() + 1.0);
    const double now_s = world.now_s();
    const auto estimate = world.updated(0).server_time_s();
    ASSERT_TRUE(estimate) << wrong;
    EXPECT_NEAR(*estimate, now_s, 0.02) << wrong;
    ASSERT_NE(world.shown(0, body), nullptr) << wrong;
    EXPECT_EQ(client.status(), ClientStatus::joined) << wrong;
  }
}

}  // namespace
}  // namespace reckoner::test
