// SPDX-License-Identifier: MIT
#include "motion_fit.hpp"

#include "least_squares.hpp"
#include "rate_fit.hpp"

#include <cmath>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kTickRateHz = 60.0;

// Feeds a motion, given as a function of time, the way a game would: velocity by differences.
template <class Path>
State feed(MotionFit& fit, Path path, double from_s, double to_s) {
  State state;
  const auto ticks = static_cast<int>(std::lround((to_s - from_s) * kTickRateHz));
  for (int k = 0; k < ticks; ++k) {
    const double t = from_s + k / kTickRateHz;
    const double dt = 1.0 / kTickRateHz;
    state.position = path(t);
    state.velocity = glm::vec3{(path(t) - path(t - dt)) / dt};
    state.acceleration = glm::vec3{(path(t) - 2.0 * path(t - dt) + path(t - 2.0 * dt)) / (dt * dt)};
    fit.observe(state);
  }
  return state;
}

// Where the published quadratic passes at the horizon, against where the entity will be.
template <class Path>
double miss(const MotionFit& fit, const State& truth, Path path, double now_s) {
  const State ahead = extrapolate(fit.fitted(truth), fit.horizon_s());
  return glm::length(ahead.position - path(now_s + fit.horizon_s()));
}

TEST(LeastSquares, StartsAsTheFirstInput) {
  const LeastSquares<3> fit;
  EXPECT_EQ(fit.predict({2.0, 5.0, -7.0}), 2.0);
}

TEST(LeastSquares, LearnsALinearLaw) {
  LeastSquares<3> fit;
  std::uint32_t random = 1;
  const auto next = [&random] {
    return static_cast<double>((random = random * 1664525u + 1013904223u) >> 8) / 8388608.0 - 1.0;
  };
  for (int i = 0; i < 2000; ++i) {
    const LeastSquares<3>::Inputs x{next(), next(), next()};
    fit.learn(x, 0.5 * x[0] - 2.0 * x[1] + 0.25 * x[2]);
  }
  EXPECT_NEAR(fit.predict({1.0, 0.0, 0.0}), 0.5, 0.01);
  EXPECT_NEAR(fit.predict({0.0, 1.0, 0.0}), -2.0, 0.01);
  EXPECT_NEAR(fit.predict({0.0, 0.0, 1.0}), 0.25, 0.01);
}

// Days of rest, of one direction only, of huge numbers: what is learned stays finite.
TEST(LeastSquares, StaysFiniteWhateverItIsFed) {
  LeastSquares<4> fit;
  for (int i = 0; i < 1'000'000; ++i)
    fit.learn({0.0, 0.0, 0.0, 0.0}, 0.0);
  for (int i = 0; i < 1'000'000; ++i)
    fit.learn({1.0, 1.0, 1.0, 1.0}, 1.0);
  for (int i = 0; i < 10'000; ++i)
    fit.learn({1e3, -1e3, 1e3, 1e3}, i % 2 == 0 ? 1e3 : -1e3);
  for (int i = 0; i < 10'000; ++i)
    fit.learn({1e-9, 0.0, -1e-9, 0.0}, 1e-9);
  EXPECT_TRUE(std::isfinite(fit.predict({1.0, 2.0, 3.0, 4.0})));
  EXPECT_LT(std::abs(fit.predict({1.0, 1.0, 1.0, 1.0})), 10.0);
}

TEST(MotionFit, PositionAndVelocityStayTrue) {
  MotionFit fit{kTickRateHz};
  const auto path = [](double t) { return glm::dvec3{5.0 * std::sin(t), 3.0 * t, 0.0}; };
  const State truth = feed(fit, path, 0.0, 3.0);
  const State fitted = fit.fitted(truth);
  EXPECT_EQ(fitted.position, truth.position);
  EXPECT_EQ(fitted.velocity, truth.velocity);
  EXPECT_EQ(fitted.orientation, truth.orientation);
}

TEST(MotionFit, FollowsUniformMotionAndFreeFall) {
  const auto straight = [](double t) { return glm::dvec3{4.0 * t, -2.0 * t, 1.0}; };
  const auto fall = [](double t) { return glm::dvec3{4.0 * t, 0.0, 100.0 + 10.0 * t - 4.905 * t * t}; };
  MotionFit first{kTickRateHz};
  EXPECT_LT(miss(first, feed(first, straight, 0.0, 2.0), straight, 2.0 - 1.0 / kTickRateHz), 0.001);
  MotionFit second{kTickRateHz};
  EXPECT_LT(miss(second, feed(second, fall, 0.0, 2.0), fall, 2.0 - 1.0 / kTickRateHz), 0.05);
}

// A body that swings to and fro: constant velocity and constant acceleration both miss; the learned guess
// must not.
TEST(MotionFit, LearnsAnEntitysOwnHabit) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), 0.0, 0.0}; };
  MotionFit fit{kTickRateHz};
  State truth = feed(fit, swing, 0.0, 30.0);
  double learned = 0.0;
  double by_velocity = 0.0;
  double by_acceleration = 0.0;
  for (int k = 0; k < 60; ++k) {
    const double now = 30.0 + k / kTickRateHz;
    truth = feed(fit, swing, now, now + 1.0 / kTickRateHz);
    learned += miss(fit, truth, swing, now);
    const glm::dvec3 target = swing(now + fit.horizon_s());
    State plain = truth;
    by_acceleration += glm::length(extrapolate(plain, fit.horizon_s()).position - target);
    plain.acceleration = glm::vec3{0.0f};
    by_velocity += glm::length(extrapolate(plain, fit.horizon_s()).position - target);
  }
  EXPECT_LT(learned, 0.1 * by_velocity);
  EXPECT_LT(learned, 0.2 * by_acceleration);
}

TEST(MotionFit, ATeleportVoidsThePastButNotWhatWasLearned) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), 0.0, 0.0}; };
  const auto elsewhere = [&](double t) { return swing(t) + glm::dvec3{500.0, 0.0, 0.0}; };
  MotionFit fit{kTickRateHz};
  feed(fit, swing, 0.0, 30.0);
  fit.restart();
  const State truth = feed(fit, elsewhere, 30.0, 30.5);
  EXPECT_LT(miss(fit, truth, elsewhere, 30.5 - 1.0 / kTickRateHz), 0.2);  // no trace of the 500 m
}

TEST(MotionFit, IsAtRestAtRest) {
  MotionFit fit{kTickRateHz};
  const auto stop = [](double t) { return glm::dvec3{std::min(t, 3.0), 0.0, 0.0}; };
  const State truth = feed(fit, stop, 0.0, 4.0);
  const State fitted = fit.fitted(truth);
  EXPECT_EQ(fitted.velocity, glm::vec3{0.0f});
  EXPECT_EQ(fitted.acceleration, glm::vec3{0.0f});
  EXPECT_EQ(fitted.angular_velocity, glm::vec3{0.0f});
}

TEST(MotionFit, BeforeAnythingIsKnownItKeepsTheVelocity) {
  MotionFit fit{kTickRateHz};
  State state;
  state.velocity = {3.0f, 0.0f, 0.0f};
  fit.observe(state);
  EXPECT_LT(glm::length(fit.fitted(state).acceleration), 1e4f);
  EXPECT_TRUE(is_sane(fit.fitted(state)));
}

}  // namespace
}  // namespace reckoner
