// SPDX-License-Identifier: MIT
#include "random_states.hpp"

#include <gtest/gtest.h>

#include <reckoner/reckoning/interpolate.hpp>
#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

// Two motions `gap_s` apart, turned by less than a half turn against each other.
std::pair<Motion, Motion> random_pair(test::RandomStates& random, double gap_s) {
  Motion from{random.state(), 10.0};
  Motion to{random.state(), 10.0 + gap_s};
  to.state.position = from.state.position + random.vector(5.0);
  to.state.orientation =
      glm::quat{glm::normalize(rotation_exp(random.vector(1.0)) * glm::dquat{from.state.orientation})};
  return {from, to};
}

TEST(Interpolate, PassesThroughBothMotionsWithTheirVelocities) {
  test::RandomStates random(1);
  for (int i = 0; i < 500; ++i) {
    const auto [from, to] = random_pair(random, random.number(0.01, 1.0));
    for (const Motion& end : {from, to}) {
      const State s = interpolate(from, to, end.time_s);
      EXPECT_LT(glm::distance(s.position, end.state.position), 1e-9);
      EXPECT_LT(glm::distance(s.velocity, end.state.velocity), 1e-3f);
      EXPECT_LT(angle_between(s.orientation, end.state.orientation), 1e-3);
      EXPECT_LT(glm::distance(s.angular_velocity, end.state.angular_velocity), 1e-3f);
    }
  }
}

TEST(Interpolate, VelocitiesAreDerivatives) {
  constexpr double kStepS = 1e-4;
  test::RandomStates random(2);
  for (int i = 0; i < 500; ++i) {
    const auto [from, to] = random_pair(random, 0.2);
    const double time_s = random.number(10.01, 10.19);
    const State before = interpolate(from, to, time_s - kStepS);
    const State s = interpolate(from, to, time_s);
    const State after = interpolate(from, to, time_s + kStepS);
    const glm::dvec3 velocity = (after.position - before.position) / (2.0 * kStepS);
    EXPECT_LT(glm::distance(velocity, glm::dvec3{s.velocity}), 1e-3);
    const glm::dquat turn =
        glm::normalize(glm::dquat{after.orientation} * glm::conjugate(glm::dquat{before.orientation}));
    // Orientations are floats: their difference over the step knows the rate to some 1e-3 rad/s.
    EXPECT_LT(glm::distance(rotation_log(turn) / (2.0 * kStepS), glm::dvec3{s.angular_velocity}), 0.02);
  }
}

TEST(Interpolate, ThePositionAloneIsTheSame) {
  test::RandomStates random(3);
  for (int i = 0; i < 100; ++i) {
    const auto [from, to] = random_pair(random, 0.15);
    const double time_s = random.number(10.0, 10.15);
    EXPECT_EQ(interpolate_position(from, to, time_s), interpolate(from, to, time_s).position);
  }
}

TEST(Interpolate, AccelerationsDoNotMatter) {
  test::RandomStates random(4);
  auto [from, to] = random_pair(random, 0.1);
  const State with = interpolate(from, to, 10.03);
  from.state.acceleration = to.state.acceleration = glm::vec3{1e4f};
  const State without = interpolate(from, to, 10.03);
  EXPECT_EQ(with.position, without.position);
  EXPECT_EQ(with.velocity, without.velocity);
}

TEST(Interpolate, FollowsAMotionOfConstantAccelerationExactly) {
  test::RandomStates random(5);
  for (int i = 0; i < 100; ++i) {
    const Motion from{random.state(), 10.0};
    const Motion to{state_at(from, 10.4), 10.4};
    const double time_s = random.number(10.0, 10.4);
    // Velocities are floats, of up to 40 m/s.
    EXPECT_LT(glm::distance(interpolate_position(from, to, time_s), state_at(from, time_s).position), 1e-5);
  }
}

}  // namespace
}  // namespace reckoner
