// SPDX-License-Identifier: MIT
#include "scenario/builtin/roamers.hpp"

#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"

#include <cmath>
#include <cstddef>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {
namespace {

TEST(Roamers, WhatIsAskedBeforeDoesNotMatter) {
  Roamers in_order(20, 3), at_random(20, 3);
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const auto number = static_cast<std::size_t>(random.below(20));
    const double time_s = random.uniform(0.0, 100.0);
    Roamers fresh(20, 3);
    const State expected = fresh.state(number, time_s);
    const State state = at_random.state(number, time_s);
    ASSERT_LT(glm::distance(state.position, expected.position), 1e-9);
    ASSERT_EQ(state.orientation, expected.orientation);
  }
  EXPECT_NE(Roamers(20, 4).state(0, 1.0).position, in_order.state(0, 1.0).position);
}

TEST(Roamers, TheDerivativesAreThoseOfThePath) {
  constexpr double kStepS = 1e-5;
  Roamers roamers(50, 1);
  Random random(2);
  int joints = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto number = static_cast<std::size_t>(random.below(50));
    const double time_s = random.uniform(0.0, 1000.0);
    const State before = roamers.state(number, time_s - kStepS);
    const State state = roamers.state(number, time_s);
    const State after = roamers.state(number, time_s + kStepS);
    ASSERT_TRUE(is_sane(state));
    const glm::dvec3 velocity = (after.position - before.position) / (2.0 * kStepS);
    ASSERT_LT(glm::distance(velocity, glm::dvec3(state.velocity)), 1e-3) << time_s;
    ASSERT_LT(glm::length(state.velocity), 8.0f);
    ASSERT_LT(glm::length(state.acceleration), 15.0f);
    ASSERT_LT(std::abs(state.angular_velocity.z), 2.5f);
    // Acceleration may jump where one leg ends and the next begins, and only there.
    const glm::dvec3 acceleration = glm::dvec3(after.velocity - before.velocity) / (2.0 * kStepS);
    if (glm::distance(acceleration, glm::dvec3(state.acceleration)) > 0.5) ++joints;
    constexpr double kTurnS = 0.01;
    const State turned = roamers.state(number, time_s + kTurnS);
    const double rate = 0.5 * (state.angular_velocity.z + turned.angular_velocity.z);
    ASSERT_NEAR(angle_between(turned.orientation, state.orientation), std::abs(rate) * kTurnS, 2e-3);
  }
  EXPECT_LT(joints, 10);
}

TEST(Roamers, TheyFillTheirPlaneEvenlyAndKeepMoving) {
  constexpr std::size_t kCount = 10'000;
  Roamers roamers(kCount, 5);
  EXPECT_NEAR(roamers.side_m() * roamers.side_m(), kCount * Roamers::kAreaEachM2, 1e-6);
  std::size_t quarters[4] = {};
  double speed_mps = 0.0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const State state = roamers.state(i, 17.0);
    EXPECT_LT(glm::length(glm::dvec2(state.position) - roamers.home(i)), 2.0 * Roamers::kReachM);
    ++quarters[(state.position.x > 0.0 ? 1 : 0) + (state.position.y > 0.0 ? 2 : 0)];
    speed_mps += glm::length(state.velocity) / kCount;
  }
  for (const std::size_t quarter : quarters)
    EXPECT_NEAR(static_cast<double>(quarter), kCount / 4.0, 250.0);
  EXPECT_GT(speed_mps, 1.0);
  EXPECT_LT(speed_mps, 2.0);
}

}  // namespace
}  // namespace reckoner::scenario
