// SPDX-License-Identifier: MIT
#include "random_points.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;
using glm::dvec3;

template <CurveVector V>
double brute_force(const CubicPath<V>& path, const V& point, double from, double to, int steps) {
  double best = 1e300;
  for (int i = 0; i <= steps; ++i) {
    best = std::min(best, curve_math::length(path.position(from + (to - from) * i / steps) - point));
  }
  return best;
}

template <class V>
class NearestOf : public testing::Test {};
using Dimensions = testing::Types<double, dvec2, dvec3>;
TYPED_TEST_SUITE(NearestOf, Dimensions);

TYPED_TEST(NearestOf, AgreesWithBruteForce) {
  using V = TypeParam;
  TestRandom random(41);
  for (int round = 0; round < 40; ++round) {
    const auto ends = round % 2 == 0 ? CatmullRomEnds::closed : CatmullRomEnds::doubled;
    const auto curve = CatmullRom<V>::make(random.points<V>(8), {CatmullRomKnots::uniform, ends});
    const CubicPath<V>& path = curve->path();
    for (int i = 0; i < 10; ++i) {
      const V point = random.vector<V>(-14, 14);
      const auto found = nearest(path, point);
      const double brute = brute_force(path, point, 0.0, path.end_parameter(), 8000);
      EXPECT_LE(found.distance, brute + 1e-12);
      EXPECT_GE(found.distance, brute - 0.02);  // the grid's own error
      EXPECT_EQ(path.position(found.parameter), found.position);
      EXPECT_DOUBLE_EQ(curve_math::length(found.position - point), found.distance);
      // Inside the path, the connection is perpendicular to the path.
      if (found.distance > 1e-6 && std::abs(found.parameter - std::round(found.parameter)) > 1e-6) {
        EXPECT_NEAR(curve_math::dot(path.derivative(found.parameter), V(found.position - point)), 0.0, 1e-9);
      }
    }
  }
}

TEST(Nearest, FindsPointsOnTheCurveItself) {
  TestRandom random(43);
  const auto curve = CatmullRom<dvec3>::make(random.points<dvec3>(20), {CatmullRomKnots::centripetal});
  for (double t = 0.0; t <= 19.0; t += 0.0371) {
    const auto found = nearest(curve->path(), curve->position(t));
    EXPECT_NEAR(found.parameter, t, 1e-7);
    EXPECT_LT(found.distance, 1e-9);
  }
}

TEST(Nearest, WorksFarAwayAndInALargeWorld) {
  std::vector<dvec3> points{{6378137, 5, 10}, {6378147, 5, 12}, {6378150, 9, 12}};
  const auto curve = CatmullRom<dvec3>::make(points);
  const auto at = nearest(curve->path(), curve->position(1.3) + dvec3(0, 0, 0));
  EXPECT_NEAR(at.parameter, 1.3, 1e-7);
  const auto far = nearest(curve->path(), dvec3(0, 0, 0));
  EXPECT_LE(far.distance, brute_force(curve->path(), dvec3(0, 0, 0), 0.0, 2.0, 10000) + 1e-6);
}

TEST(Nearest, EquidistantPointsGiveOneOfThem) {
  std::vector<dvec2> ring;
  for (int i = 0; i < 16; ++i)
    ring.push_back({std::cos(i * std::numbers::pi / 8), std::sin(i * std::numbers::pi / 8)});
  const auto curve = CatmullRom<dvec2>::make(ring, {CatmullRomKnots::uniform, CatmullRomEnds::closed});
  const auto found = nearest(curve->path(), dvec2(0, 0));
  EXPECT_LE(found.distance, brute_force(curve->path(), dvec2(0, 0), 0.0, 16.0, 50000) + 1e-12);
  EXPECT_NEAR(found.distance, 1.0, 0.01);
  const auto still = polyline_path<dvec2>(std::vector<dvec2>{{1, 1}, {1, 1}, {1, 1}}, false);
  EXPECT_DOUBLE_EQ(nearest(*still, dvec2(4, 5)).distance, 5.0);
}

TEST(Nearest, KeepsToItsRange) {
  TestRandom random(47);
  for (int round = 0; round < 100; ++round) {
    const auto curve = CatmullRom<dvec2>::make(random.points<dvec2>(9));
    const dvec2 point = random.vector<dvec2>(-12, 12);
    const double from = random.between(0, 8);
    const double to = random.between(from, 8);
    const auto found = nearest(curve->path(), point, from, to);
    EXPECT_GE(found.parameter, from);
    EXPECT_LE(found.parameter, to);
    const double brute = brute_force(curve->path(), point, from, to, 4000);
    EXPECT_LE(found.distance, brute + 1e-12);
    EXPECT_GE(found.distance, brute - 0.02);
  }
  const auto line = polyline_path<dvec2>(std::vector<dvec2>{{0, 0}, {10, 0}}, false);
  EXPECT_DOUBLE_EQ(nearest(*line, dvec2(2, 1), 0.5, 0.7).parameter, 0.5);
  EXPECT_DOUBLE_EQ(nearest(*line, dvec2(2, 1), 0.6, 0.5).parameter, 0.6);  // an empty range gives its start
  EXPECT_DOUBLE_EQ(nearest(*line, dvec2(50, 1), -3.0, 9.0).parameter, 1.0);
}

}  // namespace
}  // namespace reckoner
