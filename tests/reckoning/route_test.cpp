// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"
#include "tests/reckoning/curves/random_points.hpp"

#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

using glm::dvec3;

enum class Kind { catmull_rom, tcb, chaikin };

RouteDefinition definition(Kind kind, RouteWrap wrap, RouteFacing facing = RouteFacing::upright) {
  std::vector<dvec3> points;
  std::vector<TcbKey<dvec3>> keys;
  TestRandom random(51);
  for (int i = 0; i < 9; ++i) {
    const dvec3 p{10.0 * std::cos(i * 0.7), 10.0 * std::sin(i * 0.7), random.between(-2, 2)};
    points.push_back(p);
    keys.push_back({1.5 * i, p, {0.1, 0.0, 0.2}, 0.3, 0.3});
  }
  RouteDefinition d{.wrap = wrap, .facing = facing, .tolerance = 1e-6};
  if (kind == Kind::catmull_rom) d.curve = CatmullRomRoute{points};
  if (kind == Kind::tcb) d.curve = TcbRoute{keys};
  if (kind == Kind::chaikin) d.curve = ChaikinRoute{points};
  return d;
}

Route route(const RouteDefinition& d) {
  auto made = Route::make(d);
  EXPECT_TRUE(made) << made.error();
  return *made;
}

constexpr Kind kKinds[] = {Kind::catmull_rom, Kind::tcb, Kind::chaikin};
constexpr RouteWrap kWraps[] = {RouteWrap::open, RouteWrap::closed, RouteWrap::ping_pong};

TEST(Route, DistancesWrapLikeTheRoute) {
  RouteDefinition d;
  d.curve = PolylineRoute{{{0, 0, 0}, {10, 0, 0}}};
  const Route open = route(d);
  EXPECT_DOUBLE_EQ(open.length(), 10.0);
  EXPECT_EQ(open.position(-3.0), dvec3(0, 0, 0));
  EXPECT_EQ(open.position(13.0), dvec3(10, 0, 0));
  EXPECT_TRUE(open.wrapped(13.0).stopped);
  EXPECT_FALSE(open.wrapped(10.0).stopped);

  d.wrap = RouteWrap::ping_pong;
  const Route back = route(d);
  EXPECT_DOUBLE_EQ(back.period(), 20.0);
  EXPECT_DOUBLE_EQ(back.position(13.0).x, 7.0);
  EXPECT_DOUBLE_EQ(back.position(-3.0).x, 3.0);
  EXPECT_DOUBLE_EQ(back.position(2013.0).x, 7.0);
  EXPECT_EQ(back.wrapped(13.0).direction, -1.0);
  EXPECT_EQ(back.wrapped(23.0).direction, 1.0);

  d.wrap = RouteWrap::closed;
  d.curve = PolylineRoute{{{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}}};
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

TEST(Route, StateContainsTheDerivativesOfThePose) {
  const double h = 1e-3;
  for (const Kind kind : kKinds) {
    for (const RouteWrap wrap : kWraps) {
      for (const RouteFacing facing : {RouteFacing::upright, RouteFacing::minimal, RouteFacing::fixed}) {
        const Route r = route(definition(kind, wrap, facing));
        for (const RouteState& start : {RouteState{3.0, 4.0, 0.7}, {0.8 * r.period(), -2.0, 0.3}}) {
          for (const double dt : {0.31, 1.7, 2.3}) {
            const State at = r.state_at(start, dt);
            const State before = r.state_at(start, dt - h);
            const State after = r.state_at(start, dt + h);
            const dvec3 v = (after.position - before.position) / (2 * h);
            EXPECT_LT(glm::length(v - dvec3(at.velocity)), 5e-3);
            const dvec3 a = dvec3(after.velocity - before.velocity) / (2 * h);
            // The curvature has steps at joints, where the difference quotient is a mean. Well inside a piece
            // it is exact.
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

TEST(Route, IsC1EverywhereAndStaysOnItsCurve) {
  for (const Kind kind : kKinds) {
    for (const RouteWrap wrap : {RouteWrap::open, RouteWrap::closed}) {
      const Route r = route(definition(kind, wrap));
      const double step = 0.01;
      State last = r.state_at({0.0, 1.0, 0.0}, 0.0);
      for (double t = step; t < r.length() - step; t += step) {
        const State s = r.state_at({0.0, 1.0, 0.0}, t);
        ASSERT_NEAR(glm::length(s.position - last.position), step, 0.02 * step) << t;
        ASSERT_LT(glm::length(s.velocity - last.velocity), 0.03) << t;
        ASSERT_LT(r.nearest(s.position).distance_to_point, 1e-9);
        last = s;
      }
      if (wrap == RouteWrap::closed) {
        EXPECT_LT(glm::length(r.state_at({0, 1, 0}, 0).velocity -
                              r.state_at({r.length() - 1e-6, 1, 0}, 0).velocity),
                  1e-4f);
      }
    }
  }
}

TEST(Route, FacesAlongTheRoute) {
  RouteDefinition d;
  d.wrap = RouteWrap::ping_pong;
  d.curve = PolylineRoute{{{0, 0, 0}, {10, 0, 0}}};
  for (const RouteFacing facing : {RouteFacing::upright, RouteFacing::minimal}) {
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
  d.facing = RouteFacing::fixed;
  d.orientation = 2.0 * rotation_exp({0, 0, 1});
  const Route fixed = route(d);
  EXPECT_NEAR(glm::length(fixed.state_at({3, 1, 0}, 0).orientation), 1.0f, 1e-6f);
  EXPECT_EQ(fixed.state_at({3, 1, 0}, 0).angular_velocity, glm::vec3(0.0f));
}

TEST(Route, StandsStillBeyondAnOpenEnd) {
  const Route r = route(definition(Kind::catmull_rom, RouteWrap::open));
  const State s = r.state_at({r.length() - 1.0, 2.0, 0.5}, 10.0);
  EXPECT_EQ(s.position, r.path().position(r.path().end_parameter()));
  EXPECT_EQ(s.velocity, glm::vec3(0.0f));
  EXPECT_EQ(s.acceleration, glm::vec3(0.0f));
  EXPECT_EQ(s.angular_velocity, glm::vec3(0.0f));
}

// Braking ends at rest, and an entity that accelerated from rest was at rest before: the direction never
// reverses.
TEST(Route, AccelerationNeverReversesTheDirection) {
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

TEST(Route, ExtrapolationFollowsTheWrapMode) {
  const Route open = route(definition(Kind::catmull_rom, RouteWrap::open));
  EXPECT_EQ(open.advanced_on_route({1.0, 1.0, 0.0}, 1e6).distance, open.length());
  EXPECT_EQ(open.advanced_on_route({1.0, 1.0, 0.0}, 1e6).speed, 0.0);
  EXPECT_EQ(open.advanced_on_route({1.0, -1.0, 0.0}, 5.0).distance, 0.0);
  EXPECT_EQ(open.unwrapped(3.0, 1000.0), 3.0);
  for (const RouteWrap wrap : {RouteWrap::closed, RouteWrap::ping_pong}) {
    const Route r = route(definition(Kind::catmull_rom, wrap));
    EXPECT_NEAR(r.advanced_on_route({1.0, 1.0, 0.0}, 1e3).distance, 1001.0, 1e-9);
    EXPECT_NEAR(r.unwrapped(1.0, 5.0 * r.period()), 5.0 * r.period() + 1.0, 1e-9);
    EXPECT_NEAR(r.unwrapped(r.period() - 1.0, 0.5), -1.0, 1e-9);
  }
}

TEST(Route, FindsTheNearestPoint) {
  for (const RouteWrap wrap : kWraps) {
    const Route r = route(definition(Kind::catmull_rom, wrap));
    for (double d = 0.0; d < r.length(); d += 0.37) {
      const auto found = r.nearest(r.position(d));
      EXPECT_NEAR(found.distance, d, 1e-4);
      EXPECT_LT(found.distance_to_point, 1e-9);
      const auto near = r.nearest(r.position(d), d + 0.4, 0.5);
      EXPECT_LT(near.distance_to_point, wrap == RouteWrap::ping_pong ? 0.5 : 1e-5) << d;
    }
  }
  // Two stretches pass by each other: the search prefers the stretch that the entity is on.
  RouteDefinition d;
  d.curve = PolylineRoute{{{0, 0, 0}, {20, 0, 0}, {20, 1, 0}, {0, 1, 0}}};
  const Route r = route(d);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}).distance, 36.0, 1e-9);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}, 5.2, 2.0).distance, 5.0, 1e-9);
  EXPECT_NEAR(r.nearest({5, 0.9, 0}, 5.2, 2.0).distance_to_point, 0.9, 1e-12);
}

TEST(Route, TcbClosesInTheGivenOrMeanTime) {
  RouteDefinition d = definition(Kind::tcb, RouteWrap::closed);
  const Route mean = route(d);
  std::get<TcbRoute>(d.curve).closing_time = 1.5;
  EXPECT_EQ(route(d).length(), mean.length());
  std::get<TcbRoute>(d.curve).closing_time = 7.0;
  EXPECT_NE(route(d).length(), mean.length());
}

TEST(Route, RefusesInvalidDefinitions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RouteDefinition good = definition(Kind::catmull_rom, RouteWrap::open);
  const auto refused = [&](auto&& change) {
    RouteDefinition d = good;
    change(d);
    return !Route::make(d);
  };
  EXPECT_FALSE(refused([](RouteDefinition&) {}));
  const auto points = [](RouteDefinition & d) -> auto& {
    return std::get<CatmullRomRoute>(d.curve).points;
  };
  EXPECT_TRUE(refused([&](RouteDefinition& d) { points(d).clear(); }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { points(d).assign(5, dvec3(1, 2, 3)); }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { points(d)[3].y = nan; }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { points(d).resize(kMaxRoutePoints + 1, dvec3(0.0)); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.wrap = static_cast<RouteWrap>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.facing = static_cast<RouteFacing>(9); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) {
    std::get<CatmullRomRoute>(d.curve).knots = static_cast<CatmullRomKnots>(9);
  }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.up = dvec3(0.0); }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.orientation = glm::dquat(0, 0, 0, 0); }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { d.tolerance = nan; }));
  EXPECT_TRUE(refused([](RouteDefinition& d) { d.tolerance = 0.0; }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { d.curve = ChaikinRoute{points(d), 99}; }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) { d.curve = ChaikinRoute{points(d), 14}; }));
  const TcbRoute tcb = std::get<TcbRoute>(definition(Kind::tcb, RouteWrap::closed).curve);
  EXPECT_FALSE(refused([&](RouteDefinition& d) { d.curve = tcb; }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) {
    d.curve = tcb;
    std::get<TcbRoute>(d.curve).keys[2].time = -1;
  }));
  EXPECT_TRUE(refused([&](RouteDefinition& d) {
    d.wrap = RouteWrap::closed;
    d.curve = TcbRoute{tcb.keys, nan};
  }));
}

}  // namespace
}  // namespace reckoner
