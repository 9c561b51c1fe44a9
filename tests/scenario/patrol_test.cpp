// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/route.hpp>

namespace reckoner::scenario {
namespace {

std::unique_ptr<Source> patrol(std::size_t count, std::uint64_t seed = 1) {
  return std::move(*make_builtin("patrol", count, seed));
}

TEST(Patrol, HasValidRoutesOfThreeKinds) {
  const auto source = patrol(40);
  std::set<std::size_t> kinds;
  for (const RouteDefinition& definition : source->routes()) {
    kinds.insert(definition.curve.index());
    EXPECT_TRUE(Route::make(definition));
  }
  EXPECT_EQ(kinds, (std::set<std::size_t>{0, 1, 2})) << "Catmull-Rom, TCB and Chaikin";
  for (std::size_t i = 0; i < source->size(); ++i)
    EXPECT_LT(*source->route_of(i), source->routes().size());
}

// C1, with at most 1 m/s^2 along the route, and exactly on the route outside excursions.
TEST(Patrol, MovesSmoothlyAndOnItsRouteBetweenExcursions) {
  const auto source = patrol(12, 3);
  std::vector<Route> routes;
  for (const RouteDefinition& definition : source->routes())
    routes.push_back(*Route::make(definition));
  constexpr double kStep = 1.0 / 100.0;
  double fastest = 0.0;
  double off_s = 0.0;
  for (std::size_t i = 0; i < source->size(); ++i) {
    const Route& route = routes[*source->route_of(i)];
    glm::dvec3 before = source->pose(i, -kStep).position;
    double distance_before = route.nearest(before).distance;
    double speed_before = -1.0;
    glm::dvec3 velocity_before = (source->pose(i, 0.0).position - before) / kStep;
    for (int k = 0; k < 12'000; ++k) {
      const double t = k * kStep;
      const glm::dvec3 now = source->pose(i, t).position;
      const glm::dvec3 velocity = (now - before) / kStep;
      EXPECT_LT(glm::length(velocity - velocity_before) / kStep, 4.0) << "guard " << i << " at " << t;
      fastest = std::max(fastest, glm::length(velocity));
      before = now;
      velocity_before = velocity;
      const auto found = route.nearest(now, distance_before, 1.0);
      const double step = route.unwrapped(found.distance, distance_before) - distance_before;
      distance_before = found.distance;
      if (!source->on_route(i, t)) {
        off_s += kStep;
        speed_before = -1.0;
        continue;
      }
      EXPECT_LT(found.distance_to_point, 1e-6);
      const double speed = step / kStep;
      EXPECT_GT(speed, -0.03);  // distances are accurate to 0.1 mm
      if (speed_before >= 0.0) {
        EXPECT_LT(std::abs(speed - speed_before), 1.0 * kStep + 0.03);
      }
      speed_before = speed;
    }
  }
  EXPECT_GT(fastest, 1.0);
  EXPECT_LT(fastest, 2.6);
  EXPECT_GT(off_s, 20.0);
  EXPECT_LT(off_s, 0.3 * 12 * 120);
}

// A guard changes its speed every 10 s to 20 s, rests included, and not more often.
TEST(Patrol, ChangesSpeedEveryTenToTwentySeconds) {
  const auto source = patrol(8, 5);
  for (std::size_t i = 0; i < source->size(); i += 2) {  // every other guard never leaves its route
    int ramps = 0;
    bool ramping = false;
    constexpr double kStep = 0.1;
    const auto along = [&](double t) {
      return glm::length(source->pose(i, t + 0.01).position - source->pose(i, t).position) / 0.01;
    };
    for (double t = 0.0; t < 200.0; t += kStep) {
      const bool changes = std::abs(along(t + kStep) - along(t)) > 0.025;
      if (changes && !ramping) ++ramps;
      ramping = changes;
    }
    EXPECT_GE(ramps, 5);
    EXPECT_LE(ramps, 21);
  }
}

TEST(Patrol, IsAPureFunctionOfSeedEntityAndTime) {
  const auto a = patrol(24);
  const auto b = patrol(24);
  for (const double t : {1234.5, 0.0, 77.7, 1e6}) {
    for (std::size_t i = 0; i < a->size(); ++i) {
      EXPECT_EQ(a->pose(i, t).position, b->pose(i, t).position);
    }
  }
  EXPECT_NE(patrol(24, 2)->pose(0, 1.0).position, a->pose(0, 1.0).position);
}

}  // namespace
}  // namespace reckoner::scenario
