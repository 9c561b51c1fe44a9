// SPDX-License-Identifier: MIT
// A player's own body: the client's game steps it at once, the server's game decides, and corrections fade.
#include "drive.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

TEST(Prediction, NeedsNoCorrectionWithADeterministicStep) {
  Drive drive({.links = network("lan")});
  drive.keys = weaving_keys;
  drive.world.run_to(5.0);
  ASSERT_TRUE(drive.is_mine);
  const std::size_t first = drive.corrections;
  const PredictionStats before = *drive.world.server().prediction_stats(drive.player);
  drive.world.run_to(60.0);
  const PredictionStats after = *drive.world.server().prediction_stats(drive.player);
  EXPECT_EQ(drive.corrections, first);
  EXPECT_EQ(after.ticks_repeated, before.ticks_repeated);
  EXPECT_EQ(after.mispredicted, before.mispredicted);
  EXPECT_EQ(after.corrections, before.corrections);
  EXPECT_GT(after.results - before.results, 55u * 60u - 30u);
  EXPECT_EQ(drive.worst_error_m(5.0), 0.0);
  EXPECT_GT(drive.truth.fuel, 0.0f);
  EXPECT_EQ(drive.world.server().stats().refusals.total(), 0u);
  EXPECT_EQ(drive.world.client(0).stats().refusals.total(), 0u);
}

TEST(Prediction, StepsEachTickOnce) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(30.0);
  ASSERT_GT(drive.steps.size(), 1500u);
  for (std::size_t i = 1; i < drive.steps.size(); ++i)
    ASSERT_EQ(drive.steps[i], drive.steps[i - 1] + 1);
}

TEST(Prediction, InputsArriveInTimeWithAShortLead) {
  for (const char* name : {"lan", "intercity", "mobile"}) {
    Drive drive({.links = network(name)});
    drive.keys = weaving_keys;
    drive.world.run_to(20.0);
    const PredictionStats before = *drive.world.server().prediction_stats(drive.player);
    drive.world.run_to(140.0);
    const PredictionStats after = *drive.world.server().prediction_stats(drive.player);
    const double share = static_cast<double>(after.ticks_repeated - before.ticks_repeated) /
                         static_cast<double>(after.ticks - before.ticks);
    RecordProperty(std::string(name) + "_share", std::to_string(share));
    RecordProperty(std::string(name) + "_lead_s", std::to_string(drive.world.client(0).stats().input_lead_s));
    EXPECT_LT(share, 0.003) << name;
  }
}

// The largest step of what is shown between two pictures beyond its velocity, m, and the largest change of
// its velocity, m/s, from `from_s` on.
struct Steps {
  double position_m = 0.0;
  double velocity_mps = 0.0;
};
Steps steps_of(const std::vector<Drive::Picture>& pictures, double from_s) {
  Steps worst;
  std::optional<glm::dvec3> before;
  for (std::size_t i = 1; i < pictures.size(); ++i) {
    const Drive::Picture &a = pictures[i - 1], &b = pictures[i];
    if (a.time_s < from_s || b.shown_s <= a.shown_s) continue;
    const double dt = b.shown_s - a.shown_s;
    const glm::dvec3 moved = b.shown.position - a.shown.position;
    const glm::dvec3 mean = 0.5 * (glm::dvec3(a.shown.velocity) + glm::dvec3(b.shown.velocity));
    worst.position_m = std::max(worst.position_m, glm::length(moved - mean * dt));
    const glm::dvec3 velocity = moved / dt;
    if (before) worst.velocity_mps = std::max(worst.velocity_mps, glm::length(velocity - *before));
    before = velocity;
  }
  return worst;
}

// Something that only the server knows pushes the car.
void push_at(Drive& drive, double at_s, double by_m) {
  drive.disturb = [&drive, at_s, by_m, done = false](double time_s) mutable {
    if (done || time_s < at_s) return;
    done = true;
    drive.truth.y += by_m;
    drive.truth.speed *= 0.8;
  };
}

TEST(Prediction, ACorrectionFadesWithoutAJump) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(10.0);
  const Steps quiet = steps_of(drive.pictures, 5.0);
  const std::size_t before = drive.corrections;
  push_at(drive, 10.0, 0.3);
  drive.world.run_to(12.0);
  EXPECT_GT(drive.corrections, before);
  EXPECT_LE(drive.corrections, before + 2);
  const Steps corrected = steps_of(drive.pictures, 10.0);
  // The mean of two velocities is not exact while the car turns.
  EXPECT_LT(corrected.position_m, quiet.position_m + 0.005);
  // 0.3 m and some from the speed fade in 0.25 s: at most 6 e / T^2 in acceleration.
  EXPECT_LT(corrected.velocity_mps, quiet.velocity_mps + 1.6);
  // One round trip and the fade after the push, what is shown is right.
  for (const Drive::Picture& picture : drive.pictures) {
    const auto tick = static_cast<Tick>(picture.shown_s / kTickS);
    if (picture.time_s < 10.0 + 0.75 || !drive.path.contains(tick + 1)) continue;  // ahead of the server
    const double share = picture.shown_s / kTickS - tick;
    const glm::dvec3 truth = glm::mix(drive.path[tick], drive.path[tick + 1], share);
    EXPECT_LT(glm::distance(picture.shown.position, truth), 0.01) << picture.time_s;
  }
}

TEST(Prediction, BeginsAndEndsWithoutAJump) {
  Drive drive({.links = network("intercity")});
  drive.keys = weaving_keys;
  drive.world.run_to(8.0);
  ASSERT_TRUE(drive.is_mine);
  ASSERT_TRUE(drive.world.server().stop_prediction(drive.id, drive.player));
  drive.world.run_to(10.0);
  EXPECT_FALSE(drive.is_mine);
  ASSERT_TRUE(drive.world.server().let_predict(drive.id, drive.player));
  drive.world.run_to(12.0);
  EXPECT_TRUE(drive.is_mine);
  double worst = 0.0;
  for (std::size_t i = 1; i < drive.pictures.size(); ++i) {
    if (drive.pictures[i].time_s < 5.0) continue;
    const double step = glm::distance(drive.pictures[i].shown.position, drive.pictures[i - 1].shown.position);
    worst = std::max(worst, step);
  }
  // It goes over from one instant to another, 0.16 s of 20 m/s, in the time of a blend.
  EXPECT_LT(worst, 20.0 / 60.0 * 3.0);
}

TEST(Prediction, ATeleportJumps) {
  Drive drive({.links = network("lan")});
  drive.world.run_to(5.0);
  Tick jumped = 0;
  drive.disturb = [&](double time_s) {
    if (time_s < 5.5 || drive.truth.y > 50.0) return;
    drive.truth.y += 100.0;
    ASSERT_TRUE(drive.world.server().teleport(drive.id, drive.truth.state()));
    jumped = drive.world.server().next_tick();
  };
  drive.world.run_to(7.0);
  ASSERT_TRUE(drive.corrected_ticks.contains(jumped));  // not one tick later
  EXPECT_EQ(drive.corrected_ticks[jumped], CorrectionReason::teleported);
  std::size_t jumps = 0, between = 0;
  for (std::size_t i = 1; i < drive.pictures.size(); ++i) {
    const double y = drive.pictures[i].shown.position.y, y_before = drive.pictures[i - 1].shown.position.y;
    jumps += y - y_before > 99.0 ? 1 : 0;
    between += y > 1.0 && y < 99.0 ? 1 : 0;
  }
  EXPECT_EQ(jumps, 1u);
  EXPECT_EQ(between, 0u);
}

// Keys take effect in the first picture after they change: nothing waits for the network.
TEST(Prediction, RespondsInTheSamePicture) {
  Drive drive({.links = network("mobile")});
  drive.keys = [](double time_s) { return time_s < 6.0 ? std::byte{0} : std::byte{1}; };
  drive.world.run_to(8.0);
  double pressed_s = 0.0, moved_s = 0.0;
  for (const Drive::Picture& picture : drive.pictures) {
    if (pressed_s == 0.0 && picture.time_s >= 6.0) pressed_s = picture.time_s;
    if (moved_s == 0.0 && picture.shown.position.x > 1e-4) moved_s = picture.time_s;
  }
  ASSERT_GT(moved_s, 0.0);
  // The test's game steps after the picture, so the next picture is the first that can show it.
  EXPECT_LE(moved_s - pressed_s, 2.0 / 60.0 + 1e-3);
}

TEST(Prediction, GoesOnAfterAResume) {
  Drive drive({.links = network("lan"), .script = ""});
  drive.keys = weaving_keys;
  drive.world.run_to(5.0);
  drive.world.suspend_client(0, 7.0);
  drive.world.run_to(12.0);
  const std::size_t before = drive.corrections;
  drive.world.run_to(20.0);
  EXPECT_EQ(drive.corrections, before);
  EXPECT_EQ(drive.worst_error_m(12.0), 0.0);
}

// A game that stands still for less than a stall gets a correction for a tick that it has not stepped. It
// goes on after this tick, and what is shown has no step.
TEST(Prediction, ACorrectionFromATickThatWasNotSteppedYet) {
  for (const double stall_s : {0.1, 0.15, 0.2, 0.24}) {
    Drive drive({.links = network("lan")});
    drive.keys = weaving_keys;
    drive.world.run_to(5.0);
    const double quiet_m = steps_of(drive.pictures, 4.0).position_m;
    drive.stalls = [stall_s](double time_s) { return time_s > 5.0 && time_s < 5.0 + stall_s; };
    drive.world.run_to(5.0 + 0.8 * stall_s);
    // Other rules need a correction.
    ASSERT_TRUE(drive.world.server().let_predict(drive.id, drive.player, {.position_m = 0.02}));
    drive.world.run_to(10.0);
    EXPECT_EQ(drive.worst_error_m(6.0), 0.0) << stall_s;
    EXPECT_GT(drive.corrections, 1u) << stall_s;
    for (std::size_t i = 1; i < drive.steps.size(); ++i)
      ASSERT_EQ(drive.steps[i], drive.steps[i - 1] + 1) << stall_s;
    EXPECT_LT(steps_of(drive.pictures, 6.0).position_m, quiet_m + 0.005) << stall_s;
    // The way of the stall is made up for by a fade of 12 pictures, whose fastest one has 1.5 / 12 of it.
    double longest_m = 0.0;
    for (std::size_t i = 1; i < drive.pictures.size(); ++i) {
      const State &now = drive.pictures[i].shown, &then = drive.pictures[i - 1].shown;
      longest_m = std::max(longest_m, glm::distance(now.position, then.position));
    }
    EXPECT_LT(longest_m, 20.0 * (1.05 / 60.0 + 1.5 / 12.0 * stall_s)) << stall_s;
  }
}

TEST(Prediction, FunctionsRefuseWhatIsWrong) {
  Drive drive({.links = network("lan")});
  drive.world.run_to(3.0);
  Server& server = drive.world.server();
  Client& client = drive.world.client(0);
  EXPECT_EQ(server.let_predict({}, drive.player).error(), CallError::unknown_entity);
  EXPECT_EQ(server.let_predict(drive.id, {}).error(), CallError::unknown_client);
  EXPECT_EQ(server.let_predict(drive.id, drive.player, {.position_m = 0.0}).error(), CallError::out_of_range);
  EXPECT_EQ(server.stop_prediction(drive.id, {}).error(), CallError::unknown_client);
  EXPECT_EQ(server.give(drive.id, drive.player).error(), CallError::predicted);
  const std::array<std::byte, kMaxGameStateBytes + 1> long_state{};
  EXPECT_EQ(server.set_game_state(drive.id, long_state).error(), CallError::data_too_long);
  EXPECT_EQ(server.set_game_state({}, {}).error(), CallError::unknown_entity);
  EXPECT_TRUE(server.input({}).bytes.empty());
  EXPECT_FALSE(server.prediction_stats({}));

  const Tick stepped = drive.steps.back();
  const State state;
  EXPECT_EQ(client.predict({}, stepped, state).error(), CallError::not_predicted);
  EXPECT_EQ(client.predict(drive.id, stepped + 1, state).error(), CallError::no_step);
  EXPECT_EQ(client.predict(drive.id, stepped - 300, state).error(), CallError::no_step);
  EXPECT_EQ(client.predict(drive.id, stepped, state, long_state).error(), CallError::data_too_long);
  State strange;
  strange.position.x = std::nan("");
  EXPECT_EQ(client.predict(drive.id, stepped, strange).error(), CallError::not_finite);
  const std::array<std::byte, kMaxInputBytes + 1> long_input{};
  EXPECT_FALSE(client.next_step(long_input));

  const EntityId given = *server.spawn(0, "own", {});
  drive.world.run_to(4.0);
  ASSERT_TRUE(server.give(given, drive.player));
  EXPECT_EQ(server.let_predict(given, drive.player).error(), CallError::owned);
  for (std::size_t i = 1; i < kMaxPredicted; ++i)
    EXPECT_TRUE(server.let_predict(*server.spawn(0, "more", {}), drive.player));
  EXPECT_EQ(server.let_predict(*server.spawn(0, "more", {}), drive.player).error(),
            CallError::too_many_predicted);
}

}  // namespace
}  // namespace reckoner::test
