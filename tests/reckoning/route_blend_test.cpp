// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {
namespace {

Route ring() {
  RouteDefinition d;
  d.wrap = RouteWrap::closed;
  d.curve = CatmullRomRoute{{{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}}};
  return *Route::make(d);
}

TEST(RouteBlend, IsContinuousInDistanceAndSpeedAndEndsOnTheMotion) {
  const Route route = ring();
  const RouteState shown{3.0, 1.0, 0.0};
  const RouteState motion{3.4, 1.5, 0.25};
  const RouteBlend blend{route, shown, motion, 10.0, 0.1};
  EXPECT_NEAR(blend.apply(motion, 10.0).distance, shown.distance, 1e-12);
  EXPECT_NEAR(blend.apply(motion, 10.0).speed, shown.speed, 1e-12);
  const RouteState end = route.advanced_on_route(motion, 0.1);
  EXPECT_EQ(blend.apply(end, 10.1).distance, end.distance);
  EXPECT_TRUE(blend.over(10.1));
  // Speed and acceleration are the derivatives of distance, up to the end.
  constexpr double kStep = 1e-5;
  for (double t = 10.0 + kStep; t < 10.1 + 2 * kStep; t += 0.003) {
    const auto at = [&](double time) {
      return blend.apply(route.advanced_on_route(motion, time - 10.0), time);
    };
    EXPECT_NEAR((at(t + kStep).distance - at(t - kStep).distance) / (2 * kStep), at(t).speed, 1e-2);
    EXPECT_NEAR((at(t + kStep).speed - at(t - kStep).speed) / (2 * kStep), at(t).acceleration, 3e-1);
  }
}

TEST(RouteBlend, TakesTheShorterDirectionRound) {
  const Route route = ring();
  const RouteState motion{0.2, 1.0, 0.0};
  const RouteBlend blend{route, {route.length() - 0.1, 1.0, 0.0}, motion, 0.0, 0.1};
  EXPECT_NEAR(blend.apply(motion, 0.0).distance, -0.1, 1e-9);
}

TEST(RouteBlend, WithoutDurationItIsOver) {
  const Route route = ring();
  const RouteBlend blend{route, {1.0, 1.0, 0.0}, {5.0, 0.0, 0.0}, 0.0, 0.0};
  EXPECT_TRUE(blend.over(-1.0));
  EXPECT_EQ(RouteBlend{}.apply({5.0, 1.0, 0.0}, 0.0).distance, 5.0);
}

}  // namespace
}  // namespace reckoner
