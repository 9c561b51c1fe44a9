// SPDX-License-Identifier: MIT
#include "random_states.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

TEST(Motion, IsQuadraticInPosition) {
  State s;
  s.position = {1.0, 2.0, 3.0};
  s.velocity = {10.0f, 0.0f, -1.0f};
  s.acceleration = {0.0f, 4.0f, 2.0f};
  const State later = extrapolate(s, 0.5);
  EXPECT_DOUBLE_EQ(later.position.x, 6.0);
  EXPECT_DOUBLE_EQ(later.position.y, 2.5);
  EXPECT_DOUBLE_EQ(later.position.z, 2.75);
  EXPECT_EQ(later.velocity, (glm::vec3{10.0f, 2.0f, 0.0f}));
  EXPECT_EQ(later.acceleration, s.acceleration);
}

TEST(Motion, TurnsByTheAngularVelocityAboutWorldAxes) {
  test::RandomStates random{4};
  for (int i = 0; i < 200; ++i) {
    const State s = random.state();
    const double dt = random.number(-2.0, 2.0);
    const glm::quat expected{rotation_exp(glm::dvec3{s.angular_velocity} * dt) * glm::dquat{s.orientation}};
    EXPECT_LT(angle_between(extrapolate(s, dt).orientation, expected), 1e-6);
  }
}

TEST(Motion, StepsAddUp) {
  test::RandomStates random{5};
  for (int i = 0; i < 100; ++i) {
    const State s = random.state();
    const State once = extrapolate(s, 0.75);
    const State twice = extrapolate(extrapolate(s, 0.25), 0.5);
    EXPECT_LT(glm::length(once.position - twice.position), 1e-5);  // velocity is rounded to float in between
    EXPECT_LT(angle_between(once.orientation, twice.orientation), 1e-5);
  }
}

TEST(Motion, KeepsTheOrientationUnitForAnHour) {
  State s;
  s.angular_velocity = {3.0f, -40.0f, 7.0f};
  for (int i = 0; i < 3600; ++i)
    s = extrapolate(s, 1.0);
  EXPECT_NEAR(glm::length(s.orientation), 1.0f, 1e-6f);
}

TEST(Motion, BendDoesNotAffectTheExtrapolation) {
  test::RandomStates random(9);
  for (int i = 0; i < 100; ++i) {
    Motion motion{random.state(), 10.0};
    Motion even = motion;
    even.state.acceleration = glm::vec3{0.0f};
    motion.transition.bends = true;
    for (const bool brakes : {false, true}) {
      motion.never_reverses = brakes;
      const double time_s = 10.0 + random.number(-0.3, 3.0);
      EXPECT_EQ(state_at(motion, time_s).position, state_at(even, time_s).position);
      EXPECT_EQ(state_at(motion, time_s).velocity, even.state.velocity);
    }
  }
}

TEST(Motion, DoesNotChangeAtTimeZeroNorAtRest) {
  State s;
  s.position = {1e5, -3.0, 0.1};
  EXPECT_EQ(extrapolate(s, 1e6).position, s.position);
  EXPECT_EQ(extrapolate(s, 1e6).orientation, s.orientation);
}

// A state that brakes, roughly against its velocity.
State braking_state(test::RandomStates& random) {
  State s = random.state();
  s.acceleration = glm::vec3{glm::dvec3{s.velocity} * -random.number(0.2, 3.0) + random.vector(4.0)};
  return s;
}

double ahead(const State& start, const State& later) {
  return glm::dot(glm::dvec3{start.velocity}, later.position - start.position);
}

TEST(Braking, IsQuadraticMotionUntilItStops) {
  test::RandomStates random{21};
  int braked = 0;
  for (int i = 0; i < 1000; ++i) {
    const State s = braking_state(random);
    if (!is_braking(s)) continue;
    ++braked;
    const double stop_s = -glm::dot(glm::dvec3{s.velocity}, glm::dvec3{s.velocity}) /
                          glm::dot(glm::dvec3{s.velocity}, glm::dvec3{s.acceleration});
    for (const double share : {-1.0, 0.0, 0.5, 0.999}) {
      const State plain = extrapolate(s, share * stop_s);
      const State braking = extrapolate_braking(s, share * stop_s);
      EXPECT_EQ(braking.position, plain.position);
      EXPECT_EQ(braking.velocity, plain.velocity);
      EXPECT_EQ(braking.orientation, plain.orientation);
    }
  }
  EXPECT_GT(braked, 800);
}

TEST(Braking, NeverReversesAndComesToRest) {
  test::RandomStates random{22};
  for (int i = 0; i < 300; ++i) {
    const State s = braking_state(random);
    if (!is_braking(s)) continue;
    double before = 0.0;
    for (double t = 0.0; t < 30.0; t += 0.02) {
      const State now = extrapolate_braking(s, t);
      EXPECT_GE(ahead(s, now), before - 1e-6);
      EXPECT_GE(glm::dot(glm::dvec3{s.velocity}, glm::dvec3{now.velocity}), -1e-3);
      before = ahead(s, now);
    }
    const State rest = extrapolate_braking(s, 1e4);
    EXPECT_EQ(rest.velocity, glm::vec3{0.0f});
    EXPECT_EQ(rest.acceleration, glm::vec3{0.0f});
    EXPECT_LT(glm::distance(rest.position, extrapolate_braking(s, 1e6).position), 1e-9);
  }
}

TEST(Braking, PositionAndVelocityAreContinuous) {
  test::RandomStates random{23};
  constexpr double kStepS = 1e-3;
  for (int i = 0; i < 100; ++i) {
    const State s = braking_state(random);
    const double brake = glm::length(glm::dvec3{s.acceleration});
    State before = extrapolate_braking(s, -0.1);
    for (double t = -0.1 + kStepS; t < 6.0; t += kStepS) {
      const State now = extrapolate_braking(s, t);
      const glm::dvec3 mean = 0.5 * (glm::dvec3{now.velocity} + glm::dvec3{before.velocity});
      ASSERT_LT(glm::distance((now.position - before.position) / kStepS, mean), brake * kStepS + 1e-5);
      ASSERT_LT(glm::distance(glm::dvec3{now.velocity}, glm::dvec3{before.velocity}), brake * kStepS + 1e-4);
      before = now;
    }
  }
}

TEST(Braking, MotionWithoutBrakingIsUnchanged) {
  test::RandomStates random{24};
  for (int i = 0; i < 300; ++i) {
    State s = random.state();
    s.acceleration = s.velocity * 0.3f;
    const double t = random.number(-2.0, 20.0);
    EXPECT_EQ(extrapolate_braking(s, t).position, extrapolate(s, t).position);
    s.velocity = glm::vec3{0.0f};
    EXPECT_EQ(extrapolate_braking(s, t).position, extrapolate(s, t).position);
  }
}

TEST(State, InvalidNumbersAreDetected) {
  EXPECT_TRUE(is_sane(State{}));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  State s;
  s.position.y = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_sane(s));
  s = {};
  s.velocity.x = nan;
  EXPECT_FALSE(is_sane(s));
  s = {};
  s.acceleration.z = infinity;
  EXPECT_FALSE(is_sane(s));
  s = {};
  s.angular_velocity.z = nan;
  EXPECT_FALSE(is_sane(s));
  s = {};
  s.orientation = glm::quat{0.0f, 0.0f, 0.0f, 0.0f};
  EXPECT_FALSE(is_sane(s));
  s.orientation.w = nan;
  EXPECT_FALSE(is_sane(s));
}

// Servers and clients on different machines predict with this function and must agree to the last bit. The
// hash was made on x86-64 with GCC 12 at -O3. Every other platform and setting must give the same hash.
TEST(Motion, PredictsTheSameBitsEverywhere) {
  test::RandomStates random{6};
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](std::uint64_t bits) { hash = (hash ^ bits) * 1099511628211u; };
  for (int i = 0; i < 2000; ++i) {
    State s = random.state();
    // random.state() uses normalize(), which may differ in the last bit. These values are exact everywhere.
    s.orientation = glm::quat{0.5f, 0.5f, -0.5f, 0.5f};
    s = extrapolate(s, static_cast<int>(random.number(-120.0, 120.0)) / 60.0);
    for (int k = 0; k < 3; ++k) {
      add(std::bit_cast<std::uint64_t>(s.position[k]));
      add(std::bit_cast<std::uint32_t>(s.velocity[k]));
    }
    add(std::bit_cast<std::uint32_t>(s.orientation.w));
    add(std::bit_cast<std::uint32_t>(s.orientation.x));
    add(std::bit_cast<std::uint32_t>(s.orientation.y));
    add(std::bit_cast<std::uint32_t>(s.orientation.z));
  }
  EXPECT_EQ(hash, 14017830947034853291u);
}

}  // namespace
}  // namespace reckoner
