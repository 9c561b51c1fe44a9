// SPDX-License-Identifier: MIT
#include "client/src/prediction/predicted_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr TickClock kPathTicks{.epoch_s = 5.0, .tick_rate_hz = 60.0};

State circling(Tick tick) {
  const double t = tick / 60.0;
  State state;
  state.position = {20.0 * std::cos(0.5 * t), 20.0 * std::sin(0.5 * t), 1.0};
  state.velocity = {-10.0 * std::sin(0.5 * t), 10.0 * std::cos(0.5 * t), 0.0};
  return state;
}

PredictedPath driven(Tick first, Tick last) {
  PredictedPath path;
  for (Tick tick = first; tick <= last; ++tick)
    path.set(tick, circling(tick), {});
  return path;
}

TEST(PredictedPath, IsExactAtTicksAndContinuousBetween) {
  const PredictedPath path = driven(100, 160);
  for (Tick tick = 100; tick < 160; ++tick) {
    const auto at = path.at(kPathTicks.time_of(tick) + 1e-9, kPathTicks);
    ASSERT_TRUE(at);
    EXPECT_LT(glm::distance(at->position, circling(tick).position), 1e-6);
    EXPECT_LT(glm::distance(at->velocity, circling(tick).velocity), 1e-3f);
  }
  constexpr double kStepS = 1e-3;
  for (double time_s = kPathTicks.time_of(100) + kStepS; time_s < kPathTicks.time_of(159); time_s += kStepS) {
    const auto before = path.at(time_s - kStepS, kPathTicks), now = path.at(time_s, kPathTicks),
               after = path.at(time_s + kStepS, kPathTicks);
    const glm::dvec3 slope = (after->position - before->position) / (2.0 * kStepS);
    ASSERT_LT(glm::distance(slope, glm::dvec3(now->velocity)), 0.02);
    ASSERT_LT(glm::distance(now->velocity, before->velocity), 0.05f);
  }
}

TEST(PredictedPath, IsExtrapolatedForALimitedTime) {
  const PredictedPath path = driven(0, 60);
  const State last = circling(60);
  const auto soon = path.at(kPathTicks.time_of(60) + 0.05, kPathTicks);
  ASSERT_TRUE(soon);
  EXPECT_LT(glm::distance(soon->position, last.position + 0.05 * glm::dvec3(last.velocity)), 1e-6);
  const auto late = path.at(kPathTicks.time_of(60) + 0.1, kPathTicks),
             later = path.at(kPathTicks.time_of(60) + 9.0, kPathTicks);
  ASSERT_TRUE(late && later);
  EXPECT_LT(glm::distance(late->position, later->position), 1e-9);
}

TEST(PredictedPath, KnowsNothingBeforeTheFirstStateAndAfterAWhole) {
  PredictedPath path;
  EXPECT_FALSE(path.newest());
  EXPECT_FALSE(path.at(kPathTicks.time_of(3), kPathTicks));
  path = driven(100, 100 + PredictedPath::kKept);
  EXPECT_EQ(path.newest(), 100 + PredictedPath::kKept);
  EXPECT_EQ(path.find(99), nullptr);
  EXPECT_EQ(path.find(100), nullptr);  // the newest one has its place
  ASSERT_NE(path.find(101), nullptr);
  EXPECT_FALSE(path.at(kPathTicks.time_of(50), kPathTicks));
}

// A game that stood still goes on with a later tick.
TEST(PredictedPath, BridgesTicksThatWereSkipped) {
  PredictedPath path = driven(0, 30);
  path.set(43, circling(43), {});
  const double step_s = 1e-3;
  std::optional<State> before = path.at(kPathTicks.time_of(29), kPathTicks);
  for (double time_s = kPathTicks.time_of(29) + step_s; time_s < kPathTicks.time_of(44); time_s += step_s) {
    const auto now = path.at(time_s, kPathTicks);
    ASSERT_TRUE(now);
    ASSERT_LT(glm::distance(now->position, before->position + step_s * glm::dvec3(before->velocity)), 0.001);
    before = now;
  }
  path.set(43 + PredictedPath::kLongestGap, circling(99), {});
  EXPECT_TRUE(path.at(kPathTicks.time_of(43) + 1.0, kPathTicks));  // extrapolated: too far for a bridge
  EXPECT_LT(glm::distance(path.at(kPathTicks.time_of(43) + 0.3, kPathTicks)->position, circling(43).position),
            0.2 * glm::length(circling(43).velocity));
}

// A replay changes states of the past, and the newest one stays the newest.
TEST(PredictedPath, AReplayReplacesStates) {
  PredictedPath path = driven(0, 30);
  State moved = circling(20);
  moved.position.z += 2.0;
  const std::array bytes{std::byte{1}, std::byte{2}};
  path.set(20, moved, bytes);
  EXPECT_EQ(path.newest(), 30u);
  EXPECT_EQ(path.find(20)->state.position.z, moved.position.z);
  EXPECT_TRUE(std::ranges::equal(path.find(20)->bytes(), bytes));
  EXPECT_TRUE(path.find(21)->bytes().empty());
}

}  // namespace
}  // namespace reckoner
