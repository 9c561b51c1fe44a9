// SPDX-License-Identifier: MIT
// Ahead mode: others are shown at the time of the player's inputs.
#include "tests/support/paths.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

PlayoutConfig watched_playout(PlayoutMode mode) {
  return {.mode = mode, .delay_s = 0.2, .blend_s = 0.1};
}

// A client that shows a body, and whose game may step ticks.
struct AheadWatch {
  explicit AheadWatch(const std::string& net, const PlayoutConfig& playout, bool plays = true,
                      const std::string& script = {}, double picture_hz = 60.0, std::uint64_t seed = 1)
      : world({.links = network(net),
               .script = script,
               .seed = seed,
               .frame_rate_hz = picture_hz,
               .silence_timeout_s = 3.0}),
        picture_s(1.0 / picture_hz) {
    world.add_body(path);
    ClientConfig config;
    config.playout = playout;
    world.add_dialing_client(config);
    steps = plays;
    world.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      Client& client = world.client(0);
      if (steps) {
        while (client.next_step({})) {
        }
      }
      if (shown.size() != 1 || time_s < from_s) return before.reset();
      const double shown_s = shown[0].shown_time_s;
      ahead_s = shown_s - time_s;
      error_m = std::max(error_m, glm::distance(shown[0].shown.position, path(shown_s).position));
      if (before) {
        const double rate = (shown_s - before->shown_s) / (time_s - before->time_s);
        least_rate = std::min(least_rate, rate);
        most_rate = std::max(most_rate, rate);
        if (last_rate)
          most_rate_change =
              std::max(most_rate_change, std::abs(rate - *last_rate) / (time_s - before->time_s));
        last_rate = rate;
        const glm::dvec3 moved = shown[0].shown.position - before->shown.position;
        const glm::dvec3 mean =
            0.5 * (glm::dvec3(shown[0].shown.velocity) + glm::dvec3(before->shown.velocity));
        corner_m = std::max(corner_m, glm::length(moved - mean * (time_s - before->time_s)));
      } else {
        last_rate.reset();
      }
      before = Picture{time_s, shown_s, shown[0].shown};
    };
  }
  void look(double begin_s, double end_s) {
    world.run_to(begin_s);
    from_s = begin_s;
    before.reset();
    last_rate.reset();
    least_rate = 1e9, most_rate = 0.0, most_rate_change = 0.0, error_m = 0.0, corner_m = 0.0;
    world.run_to(end_s);
  }

  struct Picture {
    double time_s, shown_s;
    State shown;
  };
  Circle path{.radius_m = 10.0, .turn_rps = 0.8};
  World world;
  double picture_s;
  bool steps = true;
  double from_s = 3.0;
  std::optional<Picture> before;
  std::optional<double> last_rate;
  double ahead_s = 0.0, error_m = 0.0, corner_m = 0.0;
  double least_rate = 1e9, most_rate = 0.0, most_rate_change = 0.0;
};

TEST(AheadMode, ShowsOthersAtTheTimeOfTheInputs) {
  for (const char* net : {"lan", "intercity", "wifi", "mobile"}) {
    SCOPED_TRACE(net);
    AheadWatch watch(net, watched_playout(PlayoutMode::ahead));
    watch.look(12.0, 30.0);
    const ClientStats& stats = watch.world.client(0).stats();
    RecordProperty(std::string(net) + "_lead_s", std::to_string(watch.ahead_s));
    RecordProperty(std::string(net) + "_error_m", std::to_string(watch.error_m));
    EXPECT_GT(watch.ahead_s, 0.003);
    EXPECT_NEAR(watch.ahead_s, stats.input_lead_s, 0.02);  // by the client's clock, which is wrong by some ms
    EXPECT_DOUBLE_EQ(stats.delay_s, -stats.input_lead_s);
    EXPECT_GT(watch.least_rate, 1.0 - 0.021);
    EXPECT_LT(watch.most_rate, 1.0 + 0.021);
  }
}

TEST(AheadMode, EqualsPresentModeWithoutInputs) {
  AheadWatch ahead("intercity", watched_playout(PlayoutMode::ahead), false);
  AheadWatch present("intercity", watched_playout(PlayoutMode::present), false);
  for (double until_s = 1.0; until_s < 15.0; until_s += 0.1) {
    ahead.world.run_to(until_s);
    present.world.run_to(until_s);
    ASSERT_EQ(ahead.before.has_value(), present.before.has_value());
    if (!ahead.before) continue;
    ASSERT_EQ(ahead.before->shown_s, present.before->shown_s);
    ASSERT_EQ(ahead.before->shown.position, present.before->shown.position);
  }
}

// From every mode into ahead mode and back, and when inputs begin: the shown time runs up to a quarter faster
// or slower, and nothing jumps.
TEST(AheadMode, SwitchesWithoutAJump) {
  for (const PlayoutMode other : {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed}) {
    for (const double picture_hz : {30.0, 60.0, 144.0}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(other)) + " at " + std::to_string(picture_hz));
      AheadWatch quiet("intercity", watched_playout(other), true, {}, picture_hz);
      quiet.look(5.0, 25.0);
      AheadWatch always("intercity", watched_playout(PlayoutMode::ahead), true, {}, picture_hz);
      always.look(5.0, 25.0);
      AheadWatch watch("intercity", watched_playout(other), true, {}, picture_hz);
      watch.world.run_to(5.0);
      watch.from_s = 5.0;
      for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(watch.world.updated(0).set_playout(watched_playout(PlayoutMode::ahead)));
        watch.world.run_to(watch.world.now_s() + (i == 1 ? 0.4 : 4.0));
        if (i != 1) {
          EXPECT_NEAR(watch.ahead_s, watch.world.client(0).stats().input_lead_s, 0.02);
        }
        EXPECT_TRUE(watch.world.updated(0).set_playout(watched_playout(other)));
        watch.world.run_to(watch.world.now_s() + 4.0);
      }
      EXPECT_GT(watch.least_rate, 0.7);
      EXPECT_LT(watch.most_rate, 1.3);
      EXPECT_LT(watch.corner_m, 2.0 * std::max(quiet.corner_m, always.corner_m) + 0.002);
    }
  }
}

TEST(AheadMode, GoesOverFromThePresentWhenInputsBegin) {
  AheadWatch watch("intercity", watched_playout(PlayoutMode::ahead), false);
  watch.look(5.0, 8.0);
  EXPECT_NEAR(watch.ahead_s, 0.0, 0.02);
  const double quiet_m = watch.corner_m;
  watch.steps = true;
  watch.world.run_to(12.0);
  EXPECT_NEAR(watch.ahead_s, watch.world.client(0).stats().input_lead_s, 0.02);
  EXPECT_LT(watch.most_rate, 1.3);
  EXPECT_GT(watch.least_rate, 0.97);
  EXPECT_LT(watch.corner_m, 2.0 * quiet_m + 0.002);
}

// The trip becomes longer and shorter again; the client's program stops for a while; it pauses.
TEST(AheadMode, SurvivesChangesOfTheNetworkStallsAndPauses) {
  for (const char* script :
       {"10 latency-ms=120\n16 latency-ms=25\n", "10 latency-ms=400\n16 latency-ms=25\n"}) {
    SCOPED_TRACE(script);
    AheadWatch watch("intercity", watched_playout(PlayoutMode::ahead), true, script);
    watch.look(8.0, 30.0);
    EXPECT_GT(watch.least_rate, 0.7);
    EXPECT_LT(watch.most_rate, 1.3);
    EXPECT_DOUBLE_EQ(watch.world.client(0).stats().delay_s, -watch.world.client(0).stats().input_lead_s);
  }
  for (const double stall_s : {0.2, 0.6, 3.0}) {
    SCOPED_TRACE("stall of " + std::to_string(stall_s));
    AheadWatch watch("intercity", watched_playout(PlayoutMode::ahead));
    watch.world.run_to(8.0);
    watch.world.suspend_client(0, 8.0 + stall_s);
    watch.look(8.1 + stall_s, 12.0 + stall_s);
    EXPECT_GT(watch.least_rate, 0.95);
    EXPECT_LT(watch.most_rate, 1.05);
    EXPECT_NEAR(watch.ahead_s, watch.world.client(0).stats().input_lead_s, 0.02);
  }
  AheadWatch watch("intercity", watched_playout(PlayoutMode::ahead));
  watch.world.run_to(8.0);
  watch.world.updated(0).set_paused(true);
  watch.world.run_to(11.0);
  watch.world.updated(0).set_paused(false);
  watch.look(11.05, 14.0);
  EXPECT_GT(watch.least_rate, 0.95);
  EXPECT_LT(watch.most_rate, 1.05);
  EXPECT_NEAR(watch.ahead_s, watch.world.client(0).stats().input_lead_s, 0.02);
}

TEST(AheadMode, GoesOnAfterAResume) {
  AheadWatch watch("intercity", watched_playout(PlayoutMode::ahead), true, "8 loss=100\n14 loss=0\n");
  watch.look(20.0, 28.0);
  EXPECT_GT(watch.world.count(0, ClientEvent::Kind::resumed), 0u);
  EXPECT_NEAR(watch.ahead_s, watch.world.client(0).stats().input_lead_s, 0.02);
  EXPECT_GT(watch.least_rate, 0.97);
  EXPECT_LT(watch.most_rate, 1.03);
}

// The server finds every picture by the shown instant, over links that lose different datagrams.
TEST(AheadMode, ServerReconstructsWhatWasShown) {
  for (const char* link : {"lan", "intercity", "wifi", "mobile"}) {
    double share = 0.0, unknown = 0.0;
    constexpr std::uint64_t kSeeds = 6;
    for (std::uint64_t seed = 4; seed < 4 + kSeeds; ++seed) {
      WorldConfig config{.links = network(link), .seed = seed};
      config.server.rewind_s = 1.0;
      World world(config);
      for (int i = 0; i < 4; ++i) {
        world.add_body([i](double t) {
          State s;
          s.position = {3.0 * std::sin(2.0 * t + 0.7 * i), 2.0 * std::sin(3.1 * t + 1.4 * i), 0.0};
          s.velocity = {6.0f * static_cast<float>(std::cos(2.0 * t + 0.7 * i)),
                        6.2f * static_cast<float>(std::cos(3.1 * t + 1.4 * i)), 0.0f};
          return s;
        });
      }
      ClientConfig client;
      client.playout.mode = PlayoutMode::ahead;
      world.add_client(client, {.offset_s = -4321.0});
      RewindCheck witness(world, 0.5);
      witness.by_shown_time = true;
      witness.from_s = 6.0;
      const auto record = std::move(world.on_frame);
      world.on_frame = [&](std::size_t i, double time_s, std::span<const ShownEntity> shown) {
        while (world.client(0).next_step({})) {
        }
        record(i, time_s, shown);
      };
      world.run_to(20.0);
      EXPECT_GT(witness.errors_m.size(), 2500u);
      EXPECT_EQ(world.server().stats().refusals.total(), 0u);
      unknown += static_cast<double>(witness.unknown) /
                 static_cast<double>(witness.unknown + witness.errors_m.size()) / kSeeds;
      share += witness.share_below(0.05) / kSeeds;
    }
    EXPECT_GT(share, 0.9999) << link;
    EXPECT_LT(unknown, std::string(link) == "mobile" ? 0.02 : 0.006) << link;
  }
}

}  // namespace
}  // namespace reckoner::test
