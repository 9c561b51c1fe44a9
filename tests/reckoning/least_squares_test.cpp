// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/least_squares.hpp"

#include "uniform.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using test::Uniform;

TEST(LeastSquares, InitiallyPredictsTheFirstInput) {
  const LeastSquares<3> fit;
  EXPECT_EQ(fit.predict({2.0f, 5.0f, -7.0f}), 2.0f);
}

TEST(LeastSquares, LearnsALinearLaw) {
  LeastSquares<3> fit;
  Uniform next;
  for (int i = 0; i < 2000; ++i) {
    const LeastSquares<3>::Inputs x{next(), next(), next()};
    fit.learn(x, 0.5f * x[0] - 2.0f * x[1] + 0.25f * x[2], 1.0f);
  }
  EXPECT_NEAR(fit.predict({1.0f, 0.0f, 0.0f}), 0.5f, 0.01f);
  EXPECT_NEAR(fit.predict({0.0f, 1.0f, 0.0f}), -2.0f, 0.01f);
  EXPECT_NEAR(fit.predict({0.0f, 0.0f, 1.0f}), 0.25f, 0.01f);
}

TEST(LeastSquares, FewOutliersDoNotSpoilTheFit) {
  LeastSquares<2> fit;
  Uniform next;
  for (int i = 0; i < 5000; ++i) {
    const LeastSquares<2>::Inputs x{next(), next()};
    const float usual = x[0] + 0.5f * x[1] + 0.01f * next();
    fit.learn(x, i % 100 == 99 ? 20.0f : usual, 1.0f);
  }
  EXPECT_NEAR(fit.predict({1.0f, 0.0f}), 1.0f, 0.1f);
  EXPECT_NEAR(fit.predict({0.0f, 1.0f}), 0.5f, 0.1f);
}

// Long rest, one direction only, huge numbers: the fit stays finite.
TEST(LeastSquares, StaysFiniteForAnyInput) {
  using Inputs = LeastSquares<4>::Inputs;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kMost = std::numeric_limits<float>::max();
  LeastSquares<4> fit;
  for (int i = 0; i < 1'000'000; ++i)
    fit.learn({0.0f, 0.0f, 0.0f, 0.0f}, 0.0f, 3.0f);
  for (int i = 0; i < 1'000'000; ++i)
    fit.learn({1.0f, 1.0f, 1.0f, 1.0f}, 1.0f, 3.0f);
  for (int i = 0; i < 10'000; ++i)
    fit.learn({1e3f, -1e3f, 1e3f, 1e3f}, i % 2 == 0 ? 1e3f : -1e3f, 3.0f);
  for (int i = 0; i < 10'000; ++i)
    fit.learn({1e-9f, 0.0f, -1e-9f, 0.0f}, 1e-9f, 3.0f);
  for (const Inputs& x : {Inputs{kMost, kMost, -kMost, kMost}, Inputs{kNaN, 0.0f, 0.0f, 1.0f}})
    fit.learn(x, 1.0f, 3.0f);
  fit.learn({1.0f, 0.0f, 0.0f, 0.0f}, kNaN, 3.0f);
  EXPECT_TRUE(std::isfinite(fit.predict({1.0f, 2.0f, 3.0f, 4.0f})));
  EXPECT_LT(std::abs(fit.predict({1.0f, 1.0f, 1.0f, 1.0f})), 10.0f);
}

// Five days of nearly collinear inputs, like those of steady motion. The covariance must not wind up in
// single precision, and a change of the law at the end must still be learned.
TEST(LeastSquares, StillLearnsAfterDays) {
  LeastSquares<5> fit;
  Uniform next;
  constexpr int kDays = 5 * 24 * 3600 * 20;  // samples: one axis of three per tick
  for (int i = 0; i < kDays; ++i) {
    const float v = 5.0f + 0.001f * next();
    fit.learn({v, 1e-4f * next(), 0.0f, 0.0f, 1e-5f * next()}, v, 3.0f);
  }
  EXPECT_NEAR(fit.predict({5.0f, 0.0f, 0.0f, 0.0f, 0.0f}), 5.0f, 0.01f);
  for (int i = 0; i < 5'000; ++i) {
    const LeastSquares<5>::Inputs x{next(), next(), next(), next(), next()};
    fit.learn(x, 0.5f * x[0] + x[3], 3.0f);
  }
  EXPECT_NEAR(fit.predict({1.0f, 0.0f, 0.0f, 0.0f, 0.0f}), 0.5f, 0.05f);
  EXPECT_NEAR(fit.predict({0.0f, 0.0f, 0.0f, 1.0f, 0.0f}), 1.0f, 0.05f);
}

}  // namespace
}  // namespace reckoner
