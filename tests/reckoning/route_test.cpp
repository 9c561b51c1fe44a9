// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"
#include "tests/reckoning/curves/random_points.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

using glm::dvec3;

RouteDefinition definition(RouteKind kind, RouteWrap wrap, RouteFacing facing = RouteFacing::kUpright) {
  RouteDefinition d;
  d.kind = kind;
  d.wrap = wrap;
  d.facing = facing;
  d.tolerance = 1e-6;
  TestRandom random(51);
  for (int i = 0; i < 9; ++i) {
    const dvec3 p{10.0 * std::cos(i * 0.7), 10.0 * std::sin(i * 0.7), random.between(-2, 2)};
    d.points.push_back(p);
    d.keys.push_back({1.5 * i, p, {0.1, 0.0, 0.2}, 0.3, 0.3});
  }
  return d;
}

Route route(const RouteDefinition& d) {
  auto made = Route::make(d);
  EXPECT_TRUE(made) << made.error();
  return *made;
}

constexpr RouteKind kKinds[] = {RouteKind::kCatmullRom, RouteKind::kTcb, RouteKind::kChaikin};
constexpr RouteWrap kWraps[] = {RouteWrap::kOpen, RouteWrap::kClosed, RouteWrap::kPingPong};

TEST(Route, DistancesWrapAsTheRouteDoes) {
  RouteDefinition d;
  d.kind = RouteKind::kPolyline;
  d.points = {{0, 0, 0}, {10, 0, 0}};
  const Route open = route(d);
  EXPECT_DOUBLE_EQ(open.length(), 10.0);
  EXPECT_EQ(open.position(-3.0), dvec3(0, 0, 0));
  EXPECT_EQ(open.position(13.0), dvec3(10, 0, 0));
  EXPECT_TRUE(open.wrapped(13.0).stopped);
  EXPECT_FALSE(open.wrapped(10.0).stopped);

  d.wrap = RouteWrap::kPingPong;
  const Route back = route(d);
  EXPECT_DOUBLE_EQ(back.period(), 20.0);
  EXPECT_DOUBLE_EQ(back.position(13.0).x, 7.0);
  EXPECT_DOUBLE_EQ(back.position(-3.0).x, 3.0);
  EXPECT_DOUBLE_EQ(back.position(2013.0).x, 7.0);
  EXPECT_EQ(back.wrapped(13.0).direction, -1.0);
  EXPECT_EQ(back.wrapped(23.0).direction, 1.0);

  d.wrap = RouteWrap::kClosed;
  d.points.push_back({10, 10, 0});
  d.points.push_back({0, 10, 0});
  const Route ring = route(d);
  EXPECT_DOUBLE_EQ(ring.length(), 40.0);
  EXPECT_EQ(ring.position(42.0), dvec3(2, 0, 0));
  EXPECT_LT(glm::length(ring.position(-2.0) - dvec3(0, 2, 0)), 1e-12);
  EXPECT_LT(glm::length(ring.position(-400002.0) - dvec3(0, 2, 0)), 1e-9);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Route& r : {open, back, ring}) {
    EXPECT_EQ(r.position(nan), dvec3(0, 0, 0));
    EXPECT_TRUE(std::isfinite(r.position(std::numeric_limits<double>::infinity()).x));
  }
}

TEST(Route, StateHasTheMotionsOwnDerivatives) {
  const double h = 1e-3;
  for (const RouteKind kind : kKinds) {
    for (const RouteWrap wrap : kWraps) {
      for (const RouteFacing facing : {RouteFacing::kUpright, RouteFacing::kMinimal, RouteFacing::kFixed}) {
        const Route r = route(definition(kind, wrap, facing));
        for (const RouteState& start : {RouteState{3.0, 4.0, 0.7}, {0.8 * r.period(), -2.0, 0.3}}) {
          for (const double dt : {0.31, 1.7, 2.3}) {
            const State at = r.state_at(start, dt);
            const State before = r.state_at(start, dt - h);
            const State after = r.state_at(start, dt + h);
            const dvec3 v = (after.position - before.position) / (2 * h);
            EXPECT_LT(glm::length(v - dvec3(at.velocity)), 5e-3);
            const dvec3 a = dvec3(after.velocity - before.velocity) / (2 * h);
            // Curvature steps where pieces join: there the difference is a mean. Well inside, it is exact.
            const double parameter =
                r.arc().parameter_at(r.wrapped(Route::advanced(start, dt).distance).distance);
            if (std::abs(parameter - std::round(parameter)) > 0.01) {
              EXPECT_LT(glm::length(a - dvec3(at.acceleration)), 0.05 + 0.01 * glm::length(a));
            }
            const glm::dquat turn =
                glm::dquat(after.orientation) * glm::conjugate(glm::dquat(before.orientation));
            EXPECT_LT(glm::length(rotation_log(turn) / (2 * h) - dvec3(at.angular_velocity)), 5e-3);
            EXPECT_NEAR(glm::length(at.velocity), std::abs(Route::advanced(start, dt).speed), 1e-4);
            EXPECT_TRUE(is_sane(at));
          }
        }
      }
    }
  }
}

TEST(Route, IsC1AlongTheWholeWayAndStaysOnItsCurve) {
  for (const RouteKind kind : kKinds) {
    for (const RouteWrap wrap : {RouteWrap::kOpen, RouteWrap::kClosed}) {
      const Route r = route(definition(kind, wrap));
      const double step = 0.01;
      State last = r.state_at({0.0, 1.0, 0.0}, 0.0);
      for (double t = step; t < r.length() - step; t += step) {
        const State s = r.state_at({0.0, 1.0, 0.0}, t);
        ASSERT_NEAR(glm::length(s.position - last.position), step, 0.02 * step) << t;
        ASSERT_LT(glm::length(s.velocity - last.velocity), 0.03) << t;
        ASSERT_LT(r.nearest(s.position).away, 1e-9);
        last = s;
      }
      if (wrap == RouteWrap::kClosed) {
        EXPECT_LT(glm::length(r.state_at({0, 1, 0}, 0).velocity -
                              r.state_at({r.length() - 1e-6, 1, 0}, 0).velocity),
                  1e-4f);
      }
    }
  }
}

TEST(Route, FacesTheWayItGoes) {
  RouteDefinition d;
  d.kind = RouteKind::kPolyline;
  d.wrap = RouteWrap::kPingPong;
  d.points = {{0, 0, 0}, {10, 0, 0}};
  for (const RouteFacing facing : {RouteFacing::kUpright, RouteFacing::kMinimal}) {
    d.facing = facing;
    const Route r = route(d);
    const auto forward = [&](double distance, double speed) {
      return r.state_at({distance, speed, 0}, 0).orientation * glm::vec3(1, 0, 0);
    };
    EXPECT_LT(glm::length(forward(3, 1) - glm::vec3(1, 0, 0)), 1e-6f);
    EXPECT_LT(glm::length(forward(13, 1) - glm::vec3(-1, 0, 0)), 1e-6f);
    EXPECT_LT(glm::length(forward(3, -1) - glm::vec3(1, 0, 0)), 1e-6f);  // moving backwards
    EXPECT_LT(r.state_at({3, -1, 0}, 0).velocity.x, 0.0f);
    EXPECT_LT(r.state_at({13, 1, 0}, 0).velocity.x, 0.0f);
    EXPECT_LT(glm::length(r.state_at({13, 1, 0}, 0).orientation * glm::vec3(0, 0, 1) - glm::vec3(0, 0, 1)),
              1e-6f);
  }
  d.facing = RouteFacing::kFixed;
  d.orientation = 2.0 * rotation_exp({0, 0, 1});
  const Route fixed = route(d);
  EXPECT_NEAR(glm::length(fixed.state_at({3, 1, 0}, 0).orientation), 1.0f, 1e-6f);
  EXPECT_EQ(fixed.state_at({3, 1, 0}, 0).angular_velocity, glm::vec3(0.0f));
}

TEST(Route, StandsStillBeyondAnOpenEnd) {
  const Route r = route(definition(RouteKind::kCatmullRom, RouteWrap::kOpen));
  const State s = r.state_at({r.length() - 1.0, 2.0, 0.5}, 10.0);
  EXPECT_EQ(s.position, r.path().position(r.path().end_parameter()));
  EXPECT_EQ(s.velocity, glm::vec3(0.0f));
  EXPECT_EQ(s.acceleration, glm::vec3(0.0f));
  EXPECT_EQ(s.angular_velocity, glm::vec3(0.0f));
}

// Braking ends at rest, and what sped up from rest was at rest before: the direction never turns round.
TEST(Route, AccelerationNeverTurnsItRound) {
  for (const double sign : {1.0, -1.0}) {
    const RouteState braking{5.0, 2.0 * sign, -1.0 * sign};
    for (double dt = 0.0; dt < 6.0; dt += 0.01) {
      const RouteState now = Route::advanced(braking, dt);
      EXPECT_GE(now.speed * sign, 0.0);
      EXPECT_NEAR(now.distance, 5.0 + sign * (dt < 2.0 ? 2.0 * dt - 0.5 * dt * dt : 2.0), 1e-12);
      const RouteState before = Route::advanced({5.0, 2.0 * sign, 1.0 * sign}, -dt);
      EXPECT_GE(before.speed * sign, 0.0);
      EXPECT_NEAR(before.distance, 5.0 - sign * (dt < 2.0 ? 2.0 * dt - 0.5 * dt * dt : 2.0), 1e-12);
    }
    EXPECT_EQ(Route::advanced(braking, 2.0).speed, 0.0);
    EXPECT_EQ(Route::advanced(braking, 3.0).acceleration, 0.0);
    EXPECT_NEAR(Route::advanced({5.0, 0.0, sign}, 2.0).distance, 5.0 + 2.0 * sign, 1e-12);
    EXPECT_EQ(Route::advanced({5.0, 0.0, sign}, -2.0).distance, 5.0);
  }
}

TEST(Route, CarriesOnAsItIsWrapped) {
  const Route open = route(definition(RouteKind::kCatmullRom, RouteWrap::kOpen));
  EXPECT_EQ(open.carried({1.0, 1.0, 0.0}, 1e6).distance, open.length());
  EXPECT_EQ(open.carried({1.0, 1.0, 0.0}, 1e6).speed, 0.0);
  EXPECT_EQ(open.carried({1.0, -1.0, 0.0}, 5.0).distance, 0.0);
  EXPECT_EQ(open.unwrapped(3.0, 1000.0), 3.0);
  for (const RouteWrap wrap : {RouteWrap::kClosed, RouteWrap::kPingPong}) {
    const Route r = route(definition(RouteKind::kCatmullRom, wrap));
    EXPECT_NEAR(r.carried({1.0, 1.0, 0.0}, 1e3).distance, 1001.0, 1e-9);
    EXPECT_NEAR(r.unwrapped(1.0, 5.0 * r.period()), 5.0 * r.period() + 1.0, 1e-9);
    EXPECT_NEAR(r.unwrapped(r.period() - 1.0, 0.5), -1.0, 1e-9);
  }
}

TEST(Route, FindsTheNearestPlace) {
  for (const RouteWrap wrap : kWraps) {
    const Route r = route(definition(RouteKind::kCatmullRom, wrap));
    for (double d = 0.0; d < r.length(); d += 0.37) {
      const auto found = r.nearest(r.position(d));
      EXPECT_NEAR(found.distance, d, 1e-4);
      EXPECT_LT(found.away, 1e-9);
      const auto near = r.nearest(r.position(d), d + 0.4, 0.5);
      EXPECT_LT(near.away, wrap == RouteWrap::kPingPong ? 0.5 : 1e-5) << d;
    }
  }
  // Two stretches that pass by each other: the one the entity is on is kept.
  RouteDefinition d;
  d.kind = RouteKind::kPolyline;
  d.points = {{0, 0, 0}, {20, 0, 0}, {20, 1, 0}, {0, 1, 0}};
  const Route r = route(d);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}).distance, 36.0, 1e-9);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}, 5.2, 2.0).distance, 5.0, 1e-9);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}, 5.2, 2.0).away, 0.9, 1e-12);
}

TEST(Route, TcbClosesInTheGivenOrMeanTime) {
  RouteDefinition d = definition(RouteKind::kTcb, RouteWrap::kClosed);
  const Route mean = route(d);
  d.closing_time = 1.5;
  EXPECT_EQ(route(d).length(), mean.length());
  d.closing_time = 7.0;
  EXPECT_NE(route(d).length(), mean.length());
}

TEST(Route, RefusesWhatIsNoRoute) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RouteDefinition good = definition(RouteKind::kCatmullRom, RouteWrap::kOpen);
  const auto refused = [&](auto&& change) {
    RouteDefinition d = good;
    change(d);
    return !Route::make(d);
  };
  EXPECT_FALSE(refused([](RouteDefinition&) {}));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.points.clear(); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.points.assign(5, dvec3(1, 2, 3)); }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { d.points[3].y = nan; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.points.resize(kMostRoutePoints + 1, dvec3(0.0)); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.kind = static_cast<RouteKind>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.wrap = static_cast<RouteWrap>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.facing = static_cast<RouteFacing>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.knots = static_cast<CatmullRomKnots>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.up = dvec3(0.0); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.orientation = glm::dquat(0, 0, 0, 0); }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { d.tolerance = nan; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.tolerance = 0.0; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.kind = RouteKind::kChaikin, d.passes = 99; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.kind = RouteKind::kChaikin, d.passes = 14; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.kind = RouteKind::kTcb, d.keys[2].time = -1; }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) {
    d.kind = RouteKind::kTcb, d.wrap = RouteWrap::kClosed, d.closing_time = nan;
  }));
}

}  // namespace
}  // namespace reckoner
