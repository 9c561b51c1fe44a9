// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"

#include "random_states.hpp"

#include <cmath>
#include <numbers>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

double distance(const glm::dquat& a, const glm::dquat& b) {
  const glm::dquat d = a * glm::conjugate(b);
  return 2.0 * std::atan2(std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z), std::abs(d.w));
}

TEST(Rotation, LogInvertsExpUpToHalfATurn) {
  test::RandomStates random{1};
  for (const double size : {1e-9, 1e-4, 1e-3, 0.1, 1.0, 1.8}) {
    for (int i = 0; i < 100; ++i) {
      const glm::dvec3 r = random.vector(size);
      if (glm::length(r) >= std::numbers::pi) continue;
      EXPECT_LT(glm::length(rotation_log(rotation_exp(r)) - r), 1e-13 + 1e-12 * glm::length(r));
    }
  }
}

TEST(Rotation, LogTakesTheSmallerAngleForEitherSign) {
  const glm::dquat q = rotation_exp({0.0, 0.0, 3.0});
  const glm::dvec3 a = rotation_log(q);
  const glm::dvec3 b = rotation_log(-q);
  EXPECT_NEAR(a.z, 3.0, 1e-12);
  EXPECT_NEAR(b.z, 3.0, 1e-12);
  EXPECT_NEAR(rotation_log(rotation_exp({0.0, 0.0, 4.0})).z, 4.0 - 2.0 * std::numbers::pi, 1e-12);
}

// Checks the Jacobians by definition: w is the rotation between exp(r) and exp(r + r' h), divided by h.
TEST(Rotation, JacobianIsTheDerivativeOfExp) {
  test::RandomStates random{2};
  for (const double size : {1e-5, 1e-3, 0.05, 0.2, 1.5}) {
    for (int i = 0; i < 50; ++i) {
      const glm::dvec3 r = random.vector(size);
      const glm::dvec3 rate = random.vector(3.0);
      constexpr double h = 1e-6;
      const glm::dquat step = rotation_exp(r + rate * h) * glm::conjugate(rotation_exp(r - rate * h));
      const glm::dvec3 expected = rotation_log(step) / (2.0 * h);
      EXPECT_LT(glm::length(rotation_rate_to_angular_velocity(r, rate) - expected), 1e-7);
    }
  }
}

TEST(Rotation, JacobiansAreInverse) {
  test::RandomStates random{3};
  for (const double size : {1e-9, 5e-4, 2e-3, 0.05, 0.2, 1.0, 3.0}) {
    for (int i = 0; i < 50; ++i) {
      const glm::dvec3 r = random.vector(size);
      const glm::dvec3 w = random.vector(10.0);
      const glm::dvec3 back = rotation_rate_to_angular_velocity(r, angular_velocity_to_rotation_rate(r, w));
      EXPECT_LT(glm::length(back - w), 1e-9) << "at " << glm::length(r);
    }
  }
}

TEST(Rotation, AngleBetweenIsSymmetricAndIgnoresTheSign) {
  const glm::quat a{1.0f, 0.0f, 0.0f, 0.0f};
  const glm::quat b{glm::quat{rotation_exp({0.0, 0.5, 0.0})}};
  EXPECT_NEAR(angle_between(a, b), 0.5, 1e-6);
  EXPECT_NEAR(angle_between(b, a), 0.5, 1e-6);
  EXPECT_NEAR(angle_between(a, -b), 0.5, 1e-6);
  EXPECT_EQ(angle_between(a, a), 0.0);
  EXPECT_LT(distance(rotation_exp({0.0, 0.5, 0.0}), glm::dquat{b}), 1e-6);
}

}  // namespace
}  // namespace reckoner
