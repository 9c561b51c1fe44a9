// SPDX-License-Identifier: MIT
#include "random_points.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dquat;
using glm::dvec3;

dquat about_z(double angle) {
  return rotation_exp({0, 0, angle});
}

double angle_off(const dquat& a, const dquat& b) {
  return glm::length(rotation_log(glm::conjugate(a) * b));
}

std::vector<OrientationKey> random_keys(std::uint64_t seed, bool smooth) {
  TestRandom random(seed);
  std::vector<OrientationKey> keys;
  double time = 0.0;
  dquat q{1, 0, 0, 0};
  for (int i = 0; i < 6; ++i) {
    OrientationKey key;
    key.time = time;
    key.orientation = i % 2 == 0 ? q : -q;  // the sign must not matter
    key.shape = {random.between(-0.5, 0.5), smooth ? 0.0 : random.between(-1, 1), random.between(-0.5, 0.5)};
    if (!smooth) key.ease_to = 0.3, key.ease_from = 0.6;
    keys.push_back(key);
    time += random.between(0.3, 2.0);
    q = q * rotation_exp(random.vector<dvec3>(-0.9, 0.9));
  }
  return keys;
}

TEST(OrientationSpline, AboutOneAxisEqualsTcbOnTheAngle) {
  const std::vector<double> times{0, 1, 1.5, 4, 5};
  const std::vector<double> angles{0.1, 1.2, 0.9, 2.8, 2.0};
  std::vector<OrientationKey> keys;
  std::vector<TcbKey<double>> scalars;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const TcbShape shape{0.1, -0.2, 0.3};
    keys.push_back({times[i], about_z(angles[i]), shape, 0.2, 0.1});
    scalars.push_back({times[i], angles[i], shape, 0.2, 0.1});
  }
  const auto turn = OrientationSpline::make(keys);
  const auto angle = TcbSpline<double>::make(scalars);
  ASSERT_TRUE(turn && angle);
  for (double t = -0.5; t < 5.5; t += 0.01) {
    EXPECT_LT(angle_off(turn->orientation(t), about_z(angle->position(t))), 1e-12) << t;
    EXPECT_NEAR(turn->angular_velocity(t).z, angle->velocity(t), 1e-11) << t;
  }
}

TEST(OrientationSpline, PassesThroughKeysAndMatchesItsAngularVelocity) {
  const auto keys = random_keys(5, false);
  const auto s = OrientationSpline::make(keys);
  ASSERT_TRUE(s);
  for (const auto& key : keys)
    EXPECT_LT(angle_off(s->orientation(key.time), key.orientation), 1e-12);
  const double h = 1e-6;
  for (double t = 0.01; t < s->end_time() - 0.01; t += 0.0171) {
    EXPECT_NEAR(glm::length(s->orientation(t)), 1.0, 1e-14);
    const dvec3 w = rotation_log(s->orientation(t + h) * glm::conjugate(s->orientation(t - h))) / (2 * h);
    EXPECT_LT(glm::length(w - s->angular_velocity(t)), 1e-3) << t;
  }
}

TEST(OrientationSpline, AngularVelocityIsContinuousThroughUnevenKeys) {
  const auto keys = random_keys(9, true);
  const auto s = OrientationSpline::make(keys);
  for (std::size_t i = 1; i + 1 < keys.size(); ++i) {
    const double t = keys[i].time;
    EXPECT_LT(glm::length(s->angular_velocity(std::nextafter(t, 0.0)) - s->angular_velocity(t)), 1e-9) << i;
    EXPECT_GT(glm::length(s->angular_velocity(t)), 1e-3);
  }
}

TEST(OrientationSpline, HandlesOneTwoAndInvalidKeys) {
  const auto one = OrientationSpline::make(std::vector<OrientationKey>{{2.0, about_z(1.0)}});
  EXPECT_LT(angle_off(one->orientation(7.0), about_z(1.0)), 1e-14);
  EXPECT_EQ(one->angular_velocity(2.0), dvec3(0.0));
  const auto two =
      OrientationSpline::make(std::vector<OrientationKey>{{0.0, about_z(0.0)}, {2.0, about_z(1.0)}});
  EXPECT_LT(angle_off(two->orientation(0.5), about_z(0.25)), 1e-14);
  const auto scaled = OrientationSpline::make(std::vector<OrientationKey>{{0.0, 5.0 * about_z(0.4)}});
  EXPECT_LT(angle_off(scaled->orientation(0.0), about_z(0.4)), 1e-14);
  EXPECT_FALSE(OrientationSpline::make(std::vector<OrientationKey>{}));
  EXPECT_FALSE(OrientationSpline::make(std::vector<OrientationKey>{{0.0, dquat(0, 0, 0, 0)}}));
  EXPECT_FALSE(OrientationSpline::make(std::vector<OrientationKey>{{0.0, dquat(NAN, 0, 0, 0)}}));
  EXPECT_FALSE(OrientationSpline::make(std::vector<OrientationKey>{{1.0, about_z(0)}, {1.0, about_z(1)}}));
}

}  // namespace
}  // namespace reckoner
