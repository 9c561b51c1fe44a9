// SPDX-License-Identifier: MIT
#include "random_states.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {
namespace {

constexpr double kT = 0.1;

State at(const Motion& motion, const Blend& blend, double time_s) {
  return blend.apply(state_at(motion, time_s), time_s);
}

class BlendTest : public ::testing::TestWithParam<int> {
 protected:
  BlendTest() {
    test::RandomStates random{static_cast<std::uint64_t>(GetParam())};
    motion_ = {random.state(), 10.0, 0};
    shown_ = random.state();
    shown_.position = motion_.state.position + random.vector(2.0);
    const std::array<const BlendShape*, 3> shapes{nullptr, &quintic_blend(), &damped_blend()};
    const BlendShape* const shape = shapes[static_cast<std::size_t>(GetParam()) % shapes.size()];
    blend_ = Blend{shown_, state_at(motion_, kStart), kStart, kT, 1.0, shape};
  }

  static constexpr double kStart = 10.2;
  Motion motion_;
  State shown_;
  Blend blend_;
};

TEST_P(BlendTest, StartsWithTheShownPoseAndVelocity) {
  const State s = at(motion_, blend_, kStart);
  EXPECT_LT(glm::length(s.position - shown_.position), 1e-9);
  EXPECT_LT(glm::length(s.velocity - shown_.velocity), 1e-4f);
  EXPECT_LT(angle_between(s.orientation, shown_.orientation), 1e-6);
  EXPECT_LT(glm::length(s.angular_velocity - shown_.angular_velocity), 1e-4f);
}

TEST_P(BlendTest, EndsOnTheMotionInPoseAndVelocity) {
  const double before_end = kStart + kT - 1e-9;
  const State s = at(motion_, blend_, before_end);
  const State m = state_at(motion_, before_end);
  EXPECT_LT(glm::length(s.position - m.position), 1e-6);
  EXPECT_LT(glm::length(s.velocity - m.velocity), 1e-4f);
  EXPECT_LT(angle_between(s.orientation, m.orientation), 1e-6);
  EXPECT_LT(glm::length(s.angular_velocity - m.angular_velocity), 1e-4f);
  EXPECT_TRUE(blend_.over(kStart + kT));
  EXPECT_EQ(at(motion_, blend_, kStart + kT).position, state_at(motion_, kStart + kT).position);
}

// The reported velocity and angular velocity are the derivatives of the shown pose during the whole blend.
TEST_P(BlendTest, VelocitiesAreDerivativesOfTheShownPose) {
  constexpr double h = 1e-4;
  for (double t = kStart + h; t < kStart + kT + 0.02; t += 0.003) {
    if (std::abs(t - (kStart + kT)) <= h) continue;
    const State s = at(motion_, blend_, t);
    const State before = at(motion_, blend_, t - h);
    const State after = at(motion_, blend_, t + h);
    const glm::dvec3 velocity = (after.position - before.position) / (2.0 * h);
    EXPECT_LT(glm::length(velocity - glm::dvec3{s.velocity}), 1e-2);
    const glm::dquat turn =
        glm::normalize(glm::dquat{after.orientation} * glm::conjugate(glm::dquat{before.orientation}));
    EXPECT_LT(glm::length(rotation_log(turn) / (2.0 * h) - glm::dvec3{s.angular_velocity}), 0.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlendTest, ::testing::Range(1, 21));

// Number vectors: peak speed 1.5 |E0| / T and peak acceleration 6 |E0| / T^2 for E1 = 0.
TEST(Blend, PeakSpeedAndAccelerationMatchTheCubic) {
  State shown;
  shown.position = {3.0, 0.0, 0.0};
  const Motion rest;
  const Blend blend{shown, rest.state, 0.0, kT};
  double peak_speed = 0.0;
  double peak_acceleration = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const State s = at(rest, blend, kT * i / 1000.0);
    peak_speed = std::max(peak_speed, double{glm::length(s.velocity)});
    peak_acceleration = std::max(peak_acceleration, double{glm::length(s.acceleration)});
  }
  EXPECT_NEAR(peak_speed, 1.5 * 3.0 / kT, 1e-3);
  EXPECT_NEAR(peak_acceleration, 6.0 * 3.0 / (kT * kT), 1e-2);
}

// Checks the conditions that BlendShape's comment lists. Compares the derivatives with differences.
TEST(BlendShape, FadesFromTheOffsetToZero) {
  for (const BlendShape* shape :
       {&cubic_blend(), &quintic_blend(), &damped_blend(), &steady_blend(), &brisk_blend()}) {
    const BlendShape::Weights begin = shape->value(0.0), end = shape->value(1.0);
    EXPECT_EQ(begin.offset, 1.0);
    EXPECT_EQ(begin.rate, 0.0);
    EXPECT_EQ(end.offset, 0.0);
    EXPECT_EQ(end.rate, 0.0);
    EXPECT_EQ(shape->first(0.0).offset, 0.0);
    EXPECT_EQ(shape->first(0.0).rate, 1.0);
    EXPECT_EQ(shape->first(1.0).offset, 0.0);
    EXPECT_EQ(shape->first(1.0).rate, 0.0);
    constexpr double h = 1e-6;
    for (double u = 0.01; u < 1.0; u += 0.01) {
      const auto slope = [&](BlendShape::Weights (*f)(double)) {
        return BlendShape::Weights{(f(u + h).offset - f(u - h).offset) / (2.0 * h),
                                   (f(u + h).rate - f(u - h).rate) / (2.0 * h)};
      };
      EXPECT_LE(std::abs(shape->first(u).offset), shape->steepest.offset + 1e-12);
      EXPECT_LE(std::abs(shape->first(u).rate), shape->steepest.rate + 1e-12);
      // The second derivatives of steady_blend() and brisk_blend() jump here.
      const auto corner = [u](double at) { return std::abs(u - at) < 1e-3; };
      if ((shape == &steady_blend() || shape == &brisk_blend()) &&
          (corner(0.25) || corner(0.75) || corner(0.08) || corner(0.92) || corner(0.15)))
        continue;
      EXPECT_NEAR(shape->first(u).offset, slope(shape->value).offset, 1e-7) << u;
      EXPECT_NEAR(shape->first(u).rate, slope(shape->value).rate, 1e-7) << u;
      EXPECT_NEAR(shape->second(u).offset, slope(shape->first).offset, 1e-7) << u;
      EXPECT_NEAR(shape->second(u).rate, slope(shape->first).rate, 1e-7) << u;
    }
  }
}

TEST(BlendShape, QuinticStartsAndEndsWithTheMotionsAcceleration) {
  test::RandomStates random{7};
  const Motion motion{random.state(), 10.0, 0};
  const State shown = random.state();
  const Blend blend{shown, state_at(motion, 10.0), 10.0, kT, 1.0, &quintic_blend()};
  for (const double time_s : {10.0, 10.0 + kT * (1.0 - 1e-9)}) {
    EXPECT_LT(glm::distance(at(motion, blend, time_s).acceleration, motion.state.acceleration), 1e-2f);
  }
}

TEST(BlendShape, DampedEndsWithTheMotionsAcceleration) {
  test::RandomStates random{8};
  const Motion motion{random.state(), 10.0, 0};
  const Blend blend{random.state(), state_at(motion, 10.0), 10.0, kT, 1.0, &damped_blend()};
  EXPECT_LT(
      glm::distance(at(motion, blend, 10.0 + kT * (1.0 - 1e-9)).acceleration, motion.state.acceleration),
      1e-2f);
}

// The sum of the offset over a blend, if T makes the sum of the squared acceleration as large as with the
// cubic at T = 1.
TEST(BlendShape, DampedLeavesLessOffsetThanTheCubicAtEqualAcceleration) {
  constexpr int kSteps = 1000;
  const auto sum = [](auto of) {
    double total = 0.0;
    for (int i = 0; i < kSteps; ++i)
      total += of((i + 0.5) / kSteps) / kSteps;
    return total;
  };
  const auto offset_at_equal_acceleration = [&](const BlendShape& shape) {
    const double squared = sum([&](double u) { return shape.second(u).offset * shape.second(u).offset; });
    const double t = std::cbrt(squared / 12.0);  // the sum over T is squared / T^3; 12 is the cubic's
    return t * sum([&](double u) { return shape.value(u).offset; });
  };
  EXPECT_NEAR(offset_at_equal_acceleration(cubic_blend()), 0.5, 1e-3);
  EXPECT_NEAR(offset_at_equal_acceleration(damped_blend()), 0.473, 1e-3);
}

TEST(Blend, RotatesByTheSmallerAngle) {
  State shown;
  shown.orientation = glm::quat{rotation_exp({0.0, 0.0, 3.0})};
  Motion motion;
  motion.state.orientation = glm::quat{rotation_exp({0.0, 0.0, -3.0})};  // 0.283 rad further, across pi
  const Blend blend{shown, motion.state, 0.0, kT};
  for (double t = 0.0; t < kT; t += 0.01) {
    EXPECT_LT(angle_between(at(motion, blend, t).orientation, motion.state.orientation), 0.29);
  }
}

TEST(Blend, WithoutDurationShowsTheMotion) {
  State shown;
  shown.position = {3.0, 0.0, 0.0};
  const Motion motion;
  for (const Blend& blend :
       {Blend{}, Blend{shown, motion.state, 5.0, 0.0}, Blend{shown, motion.state, 5.0, -1.0}}) {
    for (const double t : {-100.0, 0.0, 5.0, 6.0}) {
      EXPECT_EQ(at(motion, blend, t).position, motion.state.position);
    }
  }
}

TEST(Blend, DurationComesFromFrames) {
  EXPECT_DOUBLE_EQ(frames_to_seconds(6.0, 60.0), 0.1);
}

}  // namespace
}  // namespace reckoner
