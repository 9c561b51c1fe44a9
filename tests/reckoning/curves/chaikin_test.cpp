// SPDX-License-Identifier: MIT
#include "random_points.hpp"
#include "tests/reckoning/degree.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;
using glm::dvec3;
using Line = std::vector<dvec2>;

Line cut(const Line& points, const ChaikinOptions& options) {
  auto made = chaikin<dvec2>(points, options);
  EXPECT_TRUE(made) << made.error();
  return made ? *made : Line{};
}

Line without_spikes(const Line& points, bool closed = false) {
  return cut(points, {.passes = 0, .closed = closed, .outlier_limit = kDefaultOutlierLimit});
}

double total_turn(const Line& p) {
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < p.size(); ++i) {
    sum += curve_math::angle_between(dvec2(p[i] - p[i - 1]), dvec2(p[i + 1] - p[i]));
  }
  return sum;
}

TEST(Chaikin, CutsAnOpenLineAndKeepsItsEnds) {
  const Line p{{0, 0}, {4, 0}, {4, 8}};
  const Line expected{{0, 0}, {1, 0}, {3, 0}, {4, 2}, {4, 6}, {4, 8}};
  EXPECT_EQ(cut(p, {.passes = 1}), expected);
  const Line twice = cut(p, {.passes = 2});
  EXPECT_EQ(twice.size(), 12u);
  EXPECT_EQ(twice.front(), p.front());
  EXPECT_EQ(twice.back(), p.back());
  EXPECT_EQ(cut(p, {.passes = 0}), p);
}

TEST(Chaikin, CutsAClosedLine) {
  const Line p{{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  const Line expected{{1, 0}, {3, 0}, {4, 1}, {4, 3}, {3, 4}, {1, 4}, {0, 3}, {0, 1}};
  EXPECT_EQ(cut(p, {.passes = 1, .closed = true}), expected);
  EXPECT_EQ(cut(p, {.passes = 5, .closed = true}).size(), 4u * 32u);
}

TEST(Chaikin, ConvergesToTheQuadraticBSpline) {
  // The middle of every edge lies on the polygons of all passes and on the limit curve: here (P0 + P1)/2 of
  // the inner edge.
  const Line fine = cut({{0, 0}, {4, 0}, {4, 4}, {8, 4}}, {.passes = 10});
  double nearest = 1.0;
  for (const dvec2& p : fine)
    nearest = std::min(nearest, glm::length(p - dvec2(4, 2)));
  EXPECT_LT(nearest, 0.01);
  // At u = 1/2 of the corner (4,0) between the middles (2,0) and (4,2): (m0 + 2c + m1)/4.
  nearest = 1.0;
  for (const dvec2& p : fine)
    nearest = std::min(nearest, glm::length(p - dvec2(3.5, 0.5)));
  EXPECT_LT(nearest, 0.01);
}

TEST(Chaikin, WorksInOneAndThreeDimensions) {
  const auto line = chaikin<double>(std::vector<double>{0.0, 4.0, 0.0}, {.passes = 1});
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, (std::vector<double>{0.0, 1.0, 3.0, 3.0, 1.0, 0.0}));
  const auto space = chaikin<dvec3>(std::vector<dvec3>{{0, 0, 0}, {0, 0, 4}, {0, 4, 4}}, {.passes = 1});
  ASSERT_TRUE(space);
  EXPECT_EQ((*space)[3], dvec3(0, 1, 4));
}

TEST(Chaikin, AngleLimitAddsNothingToStraightPaths) {
  Line straight;
  for (int i = 0; i < 20; ++i)
    straight.push_back({i, 0.1 * i + 0.01 * (i % 2)});
  EXPECT_EQ(cut(straight, {.passes = 4, .angle_limit = kDefaultAngleLimit}), straight);
}

TEST(Chaikin, AngleLimitCutsOnlySharpCorners) {
  const auto with_turn = [](double degrees) {
    return Line{{-4, 0}, {0, 0}, {4 * std::cos(degrees * kDegree), 4 * std::sin(degrees * kDegree)}};
  };
  EXPECT_EQ(cut(with_turn(29), {.passes = 3, .angle_limit = kDefaultAngleLimit}).size(), 3u);
  const Line cut31 = cut(with_turn(31), {.passes = 3, .angle_limit = kDefaultAngleLimit});
  ASSERT_EQ(cut31.size(), 4u);  // the corner became two corners of half the turn, which stay
  EXPECT_EQ(cut31[0], dvec2(-4, 0));
  EXPECT_EQ(cut31[1], dvec2(-1, 0));

  const Line corner = cut({{0, 0}, {4, 0}, {4, 4}}, {.passes = 12, .angle_limit = kDefaultAngleLimit});
  for (std::size_t i = 1; i + 1 < corner.size(); ++i) {
    EXPECT_LT(curve_math::angle_between(dvec2(corner[i] - corner[i - 1]), dvec2(corner[i + 1] - corner[i])),
              kDefaultAngleLimit);
  }
  EXPECT_LT(corner.size(), 20u);  // it stops by itself
  EXPECT_EQ(corner, cut({{0, 0}, {4, 0}, {4, 4}}, {.passes = 13, .angle_limit = kDefaultAngleLimit}));
}

TEST(Chaikin, CuttingKeepsTheTotalTurn) {
  TestRandom random(17);
  for (int round = 0; round < 50; ++round) {
    const Line p = random.points<dvec2>(9);
    const Line smooth = cut(p, {.passes = 3});
    EXPECT_NEAR(total_turn(smooth), total_turn(p), 1e-6);  // a cut splits a turn into two
  }
}

TEST(ChaikinOutliers, RemovesASpike) {
  const Line clean{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
  const dvec2 spikes[] = {{2.5, 10}, {2.5, -3}, {-8, 5}, {0.5, 10}, {40, 1}};
  for (const dvec2& spike : spikes) {
    Line p = clean;
    p.insert(p.begin() + 3, spike);
    EXPECT_EQ(without_spikes(p), clean) << spike.x << ' ' << spike.y;
  }
}

TEST(ChaikinOutliers, KeepsAGenuineCorner) {
  for (double degrees = 0; degrees <= 179; degrees += 1) {
    const dvec2 out{std::cos(degrees * kDegree), std::sin(degrees * kDegree)};
    for (const double leg : {0.1, 1.0, 20.0}) {
      const Line p{{-2, 0}, {-1, 0}, {0, 0}, leg * out, 2.0 * leg * out};
      EXPECT_EQ(without_spikes(p), p) << degrees << ' ' << leg;
      const Line first{{-1, 0}, {0, 0}, leg * out, 2.0 * leg * out};  // the corner next to the start
      EXPECT_EQ(without_spikes(first), first) << degrees << ' ' << leg;
      const Line last{first.rbegin(), first.rend()};
      EXPECT_EQ(without_spikes(last), last) << degrees << ' ' << leg;
      const Line alone{{-1, 0}, {0, 0}, leg * out};
      EXPECT_EQ(without_spikes(alone), alone);
    }
  }
}

TEST(ChaikinOutliers, KeepsSwitchbacksAndDeadEnds) {
  const Line zigzag{{0, 0}, {10, 1}, {0, 2}, {10, 3}, {0, 4}, {10, 5}};
  EXPECT_EQ(without_spikes(zigzag), zigzag);
  const Line z{{-10, 0}, {0, 0}, {10, 0}, {0, 2}, {10, 2}, {20, 2}};
  EXPECT_EQ(without_spikes(z), z);
  const Line alley{{-1, 0}, {0, 0}, {0, 2}, {0, 4}, {0, 2}, {0, 0}, {1, 0}};
  EXPECT_EQ(without_spikes(alley), alley);
}

TEST(ChaikinOutliers, SeparatesSpikesFromCorners) {
  // A square with a spike on each side; then one spike next to either end.
  const Line clean{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2},
                   {3, 3}, {2, 3}, {1, 3}, {0, 3}, {0, 2}, {0, 1}};
  Line p = clean;
  p.insert(p.begin() + 8, dvec2(1.5, -9));
  p.insert(p.begin() + 5, dvec2(9, 1.5));
  EXPECT_EQ(without_spikes(p), clean);
  EXPECT_EQ(without_spikes(p, true), clean);
  const Line ends{{0, 0}, {0.5, 10}, {1, 0}, {2, 0}, {3, 0}, {3.5, -10}, {4, 0}};
  EXPECT_EQ(without_spikes(ends), (Line{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}));
}

TEST(ChaikinOutliers, OutAndBackToTheSamePointLeavesOnePoint) {
  const Line p{{0, 0}, {1, 0}, {1, 5}, {1, 0}, {2, 0}};
  EXPECT_EQ(without_spikes(p), (Line{{0, 0}, {1, 0}, {2, 0}}));
}

TEST(ChaikinOutliers, WorksAloneAndBeforeTheCutting) {
  const Line p{{0, 0}, {1, 0}, {2, 0}, {2.5, 9}, {3, 0}, {4, 0}};
  const Line both =
      cut(p, {.passes = 3, .angle_limit = kDefaultAngleLimit, .outlier_limit = kDefaultOutlierLimit});
  EXPECT_EQ(both, (Line{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}));
  EXPECT_GT(cut(p, {.passes = 3, .angle_limit = kDefaultAngleLimit}).size(), 6u);
}

TEST(Chaikin, RepeatedPointsCountOnce) {
  const Line once{{0, 0}, {4, 0}, {4, 4}};
  const Line repeated{{0, 0}, {0, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 4}, {4, 4}};
  EXPECT_EQ(cut(repeated, {.passes = 2}), cut(once, {.passes = 2}));
  Line ring = repeated;
  ring.push_back({0, 0});
  EXPECT_EQ(cut(ring, {.passes = 2, .closed = true}), cut(once, {.passes = 2, .closed = true}));
  EXPECT_EQ(cut({{1, 1}, {1, 1}, {1, 1}}, {.passes = 3}), (Line{{1, 1}}));
}

TEST(Chaikin, FewerThanThreePointsAreReturnedUnchanged) {
  for (const bool closed : {false, true}) {
    const ChaikinOptions options{3, closed, kDefaultAngleLimit, kDefaultOutlierLimit};
    EXPECT_EQ(cut({}, options), Line{});
    EXPECT_EQ(cut({{1, 2}}, options), (Line{{1, 2}}));
    EXPECT_EQ(cut({{1, 2}, {3, 4}}, options), (Line{{1, 2}, {3, 4}}));
  }
}

TEST(Chaikin, RefusesBadInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Line p{{0, 0}, {1, 0}, {1, 1}};
  const auto refused = [](const Line& points, const ChaikinOptions& options) {
    return !chaikin<dvec2>(points, options);
  };
  EXPECT_TRUE(refused({{0, 0}, {nan, 0}, {1, 1}}, {}));
  EXPECT_TRUE(refused({{0, std::numeric_limits<double>::infinity()}}, {}));
  EXPECT_TRUE(refused(p, {.passes = -1}));
  EXPECT_TRUE(refused(p, {.passes = kMaxChaikinPasses + 1}));
  EXPECT_TRUE(refused(p, {.angle_limit = nan}));
  EXPECT_TRUE(refused(p, {.angle_limit = -0.1}));
  EXPECT_TRUE(refused(p, {.outlier_limit = 0.0}));
  EXPECT_TRUE(refused(p, {.outlier_limit = 4.0}));
  TestRandom random(1);
  EXPECT_TRUE(refused(random.points<dvec2>(200), {.passes = 16}));  // 13 million points
}

}  // namespace
}  // namespace reckoner
