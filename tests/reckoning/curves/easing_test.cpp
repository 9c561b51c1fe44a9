// SPDX-License-Identifier: MIT
#include <cmath>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

TEST(Easing, FollowsTheThreeFormulas) {
  const double a = 0.3, b = 0.5, k = 1.0 / (2.0 - a - b);
  const Easing e(a, b);
  EXPECT_NEAR(e.value(0.2), k * 0.04 / a, 1e-15);
  EXPECT_NEAR(e.value(0.4), k * (0.8 - a), 1e-15);
  EXPECT_NEAR(e.value(0.9), 1.0 - k * 0.01 / b, 1e-15);
  EXPECT_DOUBLE_EQ(Easing().value(0.37), 0.37);
}

TEST(Easing, IsC1MonotoneAndInvertible) {
  const double shares[] = {0.0, 0.1, 0.5, 0.75, 1.0};
  for (const double a : shares) {
    for (const double b : shares) {
      const Easing e(a, b);
      EXPECT_EQ(e.value(0.0), 0.0);
      EXPECT_EQ(e.value(1.0), 1.0);
      const double h = 1e-6;
      double last = 0.0;
      for (double t = 0.0; t <= 1.0; t += 0.001) {
        EXPECT_GE(e.value(t), last);
        last = e.value(t);
        EXPECT_NEAR(e.inverse(e.value(t)), t, 1e-7);
        if (t < 2 * h || t > 1 - 2 * h) continue;
        EXPECT_NEAR((e.value(t + h) - e.value(t - h)) / (2 * h), e.rate(t), 1e-4);
        // The rate has no step anywhere: C1.
        EXPECT_NEAR(e.rate(t + h), e.rate(t - h), 1e-3 + 2 * h * 50);
      }
    }
  }
}

TEST(Easing, SharesAboveOneAreScaled) {
  const Easing e(1.0, 1.0);
  const Easing half(0.5, 0.5);
  for (double t = 0.0; t <= 1.0; t += 0.05)
    EXPECT_DOUBLE_EQ(e.value(t), half.value(t));
  EXPECT_DOUBLE_EQ(e.value(0.5), 0.5);
  EXPECT_DOUBLE_EQ(Easing(NAN, -3.0).value(0.25), 0.25);
}

}  // namespace
}  // namespace reckoner
