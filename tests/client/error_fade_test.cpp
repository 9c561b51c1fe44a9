// SPDX-License-Identifier: MIT
#include "client/src/prediction/error_fade.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kBeginS = 50.0;
constexpr double kMostM = 50.0;

State random_state(std::mt19937& random, double distance_m) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto vector = [&](double size) {
    return size * glm::dvec3{unit(random), unit(random), unit(random)};
  };
  State state;
  state.position = vector(distance_m);
  state.velocity = glm::vec3(vector(20.0));
  state.orientation = glm::quat(glm::angleAxis(0.8 * unit(random), glm::normalize(vector(1.0))));
  state.angular_velocity = glm::vec3(vector(3.0));
  return state;
}

// A path with constant velocity and no rotation.
State path_at(const State& begin, double time_s) {
  State state = begin;
  state.position += glm::dvec3(begin.velocity) * (time_s - kBeginS);
  return state;
}

double angle_between(const glm::quat& a, const glm::quat& b) {
  return 2.0 * std::acos(std::min(1.0, std::abs(glm::dot(glm::dquat(a), glm::dquat(b)))));
}

TEST(ErrorFade, BeginsWhereItWasShownWithItsVelocity) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const State shown = random_state(random, 3.0), path = random_state(random, 3.0);
    ErrorFade fade;
    fade.begin(shown, path, kBeginS, kMostM);
    const State first = fade.apply(path, kBeginS);
    EXPECT_LT(glm::distance(first.position, shown.position), 1e-9);
    EXPECT_LT(glm::distance(first.velocity, shown.velocity), 1e-4f);
    EXPECT_LT(angle_between(first.orientation, shown.orientation), 2e-3);
    EXPECT_LT(glm::distance(first.angular_velocity, shown.angular_velocity), 1e-4f);
    EXPECT_NEAR(fade.error_m(kBeginS), glm::distance(shown.position, path.position), 1e-9);
  }
}

// The velocity that is shown is the derivative of the position that is shown, from the first instant to after
// the end, so that neither has a step.
TEST(ErrorFade, PositionAndVelocityAreContinuous) {
  std::mt19937 random(2);
  constexpr double kStepS = 1e-4;
  for (int i = 0; i < 50; ++i) {
    const State shown = random_state(random, 1.0);
    State path = random_state(random, 1.0);
    path.angular_velocity = glm::vec3{0.0f};
    ErrorFade fade;
    fade.begin(shown, path, kBeginS, kMostM);
    const auto at = [&](double time_s) { return fade.apply(path_at(path, time_s), time_s); };
    for (double time_s = kBeginS + kStepS; time_s < kBeginS + 1.2 * ErrorFade::kDurationS; time_s += kStepS) {
      const State before = at(time_s - kStepS), now = at(time_s), after = at(time_s + kStepS);
      const glm::dvec3 slope = (after.position - before.position) / (2.0 * kStepS);
      ASSERT_LT(glm::distance(slope, glm::dvec3(now.velocity)), 0.02) << time_s - kBeginS;
      // 6 e / T^2 and 4 v / T for an error of 3.5 m and 70 m/s.
      ASSERT_LT(glm::distance(now.velocity, before.velocity), 2000.0 * kStepS);
    }
  }
}

TEST(ErrorFade, EndsOnThePathAfterItsDuration) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const State shown = random_state(random, 2.0), path = random_state(random, 2.0);
    ErrorFade fade;
    fade.begin(shown, path, kBeginS, kMostM);
    const double end_s = kBeginS + ErrorFade::kDurationS;
    EXPECT_LT(fade.error_m(end_s - 1e-6), 1e-4);
    EXPECT_EQ(fade.error_m(end_s), 0.0);
    EXPECT_EQ(fade.apply(path, end_s).position, path.position);
    EXPECT_EQ(fade.apply(path, end_s + 5.0).orientation, path.orientation);
  }
}

// The cubic overshoots by at most 4/27 of the way of the velocity in the time of the fade.
TEST(ErrorFade, NeverGetsMuchLonger) {
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    const State shown = random_state(random, 1.0), path = random_state(random, 1.0);
    ErrorFade fade;
    fade.begin(shown, path, kBeginS, kMostM);
    const double first_m = glm::distance(shown.position, path.position);
    const double speed_mps = glm::distance(shown.velocity, path.velocity);
    const double most_m = first_m + 4.0 / 27.0 * ErrorFade::kDurationS * speed_mps;
    for (double u = 0.0; u < 1.0; u += 0.01)
      ASSERT_LE(fade.error_m(kBeginS + u * ErrorFade::kDurationS), most_m + 1e-9);
  }
}

// The duration has no step where errors begin to be long.
TEST(ErrorFade, ALongErrorFadesFaster) {
  const auto left_m = [](double error_m, double time_s) {
    State shown;
    shown.position.x = error_m;
    ErrorFade fade;
    fade.begin(shown, State{}, kBeginS, kMostM);
    return fade.error_m(kBeginS + time_s);
  };
  EXPECT_EQ(left_m(0.5, ErrorFade::kDurationS), 0.0);
  EXPECT_GT(left_m(0.5, 0.9 * ErrorFade::kDurationS), 0.0);
  EXPECT_NEAR(left_m(ErrorFade::kLongM - 1e-6, 0.1), left_m(ErrorFade::kLongM + 1e-6, 0.1), 1e-4);
  EXPECT_GT(left_m(2.0 * ErrorFade::kLongM, 0.49 * ErrorFade::kDurationS), 0.0);
  EXPECT_EQ(left_m(2.0 * ErrorFade::kLongM, 0.5 * ErrorFade::kDurationS), 0.0);
}

TEST(ErrorFade, AVeryLongErrorJumps) {
  State shown, path;
  shown.position.x = kMostM + 0.01;
  ErrorFade fade;
  fade.begin(shown, path, kBeginS, kMostM);
  EXPECT_EQ(fade.apply(path, kBeginS).position, path.position);
  EXPECT_EQ(fade.error_m(kBeginS), 0.0);
  shown.position.x = kMostM - 0.01;
  fade.begin(shown, path, kBeginS, kMostM);
  EXPECT_EQ(fade.apply(path, kBeginS).position, shown.position);
  fade.stop();
  EXPECT_EQ(fade.apply(path, kBeginS).position, path.position);
}

// A correction may come while an earlier error fades. The second fade begins from what the first one shows.
TEST(ErrorFade, ASecondErrorContinuesTheFirst) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const State shown = random_state(random, 1.0), path = random_state(random, 1.0),
                corrected = random_state(random, 1.0);
    ErrorFade fade;
    fade.begin(shown, path, kBeginS, kMostM);
    const double again_s = kBeginS + 0.4 * ErrorFade::kDurationS;
    const State then = fade.apply(path, again_s);
    fade.begin(then, corrected, again_s, kMostM);
    const State now = fade.apply(corrected, again_s);
    EXPECT_LT(glm::distance(now.position, then.position), 1e-9);
    EXPECT_LT(glm::distance(now.velocity, then.velocity), 1e-3f);
  }
}

}  // namespace
}  // namespace reckoner
