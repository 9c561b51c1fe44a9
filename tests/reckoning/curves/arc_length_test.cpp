// SPDX-License-Identifier: MIT
#include "random_points.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;
using glm::dvec3;

// Returns a length by brute force: Simpson's rule with 20000 steps a piece. This is enough for cusps and
// reversals inside a piece.
template <CurveVector V>
class BruteForce {
 public:
  explicit BruteForce(const CubicPath<V>& path) : path_(path) {
    sums_.push_back(0.0);
    for (std::size_t piece = 0; piece < path.piece_count(); ++piece) {
      for (int i = 0; i < kSteps; ++i) {
        sums_.push_back(sums_.back() + simpson(piece, static_cast<double>(i) / kSteps, (i + 1.0) / kSteps));
      }
    }
  }

  [[nodiscard]] double length() const { return sums_.back(); }
  [[nodiscard]] double length_to(double t) const {
    if (t >= path_.end_parameter()) return length();
    const auto piece = static_cast<std::size_t>(t);
    const double u = t - static_cast<double>(piece);
    const auto step = static_cast<std::size_t>(u * kSteps);
    return sums_[piece * kSteps + step] + simpson(piece, static_cast<double>(step) / kSteps, u);
  }

 private:
  static constexpr int kSteps = 20000;

  [[nodiscard]] double simpson(std::size_t piece, double a, double b) const {
    const auto speed = [&](double u) { return curve_math::length(path_.pieces()[piece].derivative(u)); };
    return (b - a) / 6.0 * (speed(a) + 4.0 * speed(0.5 * (a + b)) + speed(b));
  }

  const CubicPath<V>& path_;
  std::vector<double> sums_;
};

ArcLengthTable table_of(const auto& path, double tolerance) {
  auto made = ArcLengthTable::make(path, tolerance);
  EXPECT_TRUE(made) << made.error();
  return *made;
}

template <CurveVector V>
void check_against_quadrature(const CubicPath<V>& path, double tolerance) {
  const ArcLengthTable table = table_of(path, tolerance);
  const BruteForce<V> truth(path);
  const double end = path.end_parameter();
  EXPECT_NEAR(table.length(), truth.length(), tolerance);
  double last_distance = 0.0;
  double last_parameter = 0.0;
  const int steps = 5003;
  for (int i = 1; i <= steps; ++i) {
    const double t = end * i / steps;
    const double distance = table.distance_at(t);
    ASSERT_NEAR(distance, truth.length_to(t), tolerance) << "t " << t;
    ASSERT_GE(distance, last_distance);
    last_distance = distance;

    const double d = table.length() * i / steps;
    const double parameter = table.parameter_at(d);
    ASSERT_GE(parameter, last_parameter);
    last_parameter = parameter;
    ASSERT_NEAR(truth.length_to(parameter), d, tolerance) << "d " << d;
    ASSERT_NEAR(table.distance_at(parameter), d, 2.0 * tolerance);
  }
}

template <class V>
class ArcLengthOf : public testing::Test {};
using Dimensions = testing::Types<double, dvec2, dvec3>;
TYPED_TEST_SUITE(ArcLengthOf, Dimensions);

// One piece has nearly all of the length but a small part of the tolerance, less than its rounding error.
// Subdivision until both halves agree would need 10^12 parts.
TEST(ArcLengthTable, SubdivisionStopsAtTheRoundingError) {
  std::vector<dvec3> points;
  for (int i = 0; i < 20'000; ++i)
    points.push_back({1e-3 * i, 1e-3 * (i % 7), 0.0});
  points.push_back({3e8, 1e8, 2e8});
  points.push_back({3.1e8, 1.7e8, 2.9e8});
  const auto curve = CatmullRom<dvec3>::make(points, {});
  ASSERT_TRUE(curve) << curve.error();
  const ArcLengthTable table = table_of(curve->path(), 1e-9);
  EXPECT_LT(table.part_count(), 100'000u);
  EXPECT_GT(table.length(), 3.7e8);
}

TYPED_TEST(ArcLengthOf, StaysWithinItsToleranceOfQuadrature) {
  TestRandom random(31);
  for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
    for (const auto knots : {CatmullRomKnots::uniform, CatmullRomKnots::centripetal}) {
      const auto curve =
          CatmullRom<TypeParam>::make(random.points<TypeParam>(7), {knots, CatmullRomEnds::reflected});
      ASSERT_TRUE(curve);
      check_against_quadrature(curve->path(), tolerance);
    }
  }
}

TEST(ArcLength, IsExactForLinesAndParabolas) {
  const auto line = polyline_path<dvec2>(std::vector<dvec2>{{0, 0}, {3, 4}, {3, 16}}, false);
  const auto table = table_of(*line, 1e-6);
  EXPECT_DOUBLE_EQ(table.length(), 17.0);
  EXPECT_DOUBLE_EQ(table.parameter_at(2.5), 0.5);
  EXPECT_DOUBLE_EQ(table.parameter_at(11.0), 1.5);
  EXPECT_EQ(table.part_count(), 2u);  // no subdivision needed: adaptive, not a fixed step
  // y = x^2 from 0 to 1.
  const CubicPath<dvec2> parabola({{{0, 0}, {1, 0}, {0, 1}}}, {1, 1}, false);
  const double expected = 0.5 * std::sqrt(5.0) + 0.25 * std::asinh(2.0);
  EXPECT_NEAR(table_of(parabola, 1e-9).length(), expected, 1e-9);
}

TEST(ArcLength, CuspsStopsAndTension) {
  // Speed is 0 at the start, inside (a cusp at u = 1/2) and on a whole piece.
  const CubicPath<dvec2> path({{{0, 0}, {0, 0}, {3, 0}, {0, 4}},
                               {{3, 4}, {3, 3}, {-12, -12}, {16, 12}},
                               {{10, 7}},
                               {{10, 7}, {0, 0}, {0, 0}, {1, 0}}},
                              {11, 7}, false);
  for (const double tolerance : {1e-3, 1e-7})
    check_against_quadrature(path, tolerance);
  const auto cusp = CubicPath<double>({{0.0, 0.75, -3.0, 4.0}}, 1.75, false);  // derivative 12 (u - 1/4)^2
  check_against_quadrature(cusp, 1e-7);
  const auto turning = CubicPath<double>({{0.0, 1.0, -2.0, 0.0}}, -1.0, false);  // reverses at 1/4
  const auto table = table_of(turning, 1e-7);
  EXPECT_NEAR(table.length(), 0.125 + 1.125, 1e-7);
  EXPECT_NEAR(table.parameter_at(0.125), 0.25, 1e-3);
}

TEST(ArcLength, ManyRandomCubicsWithSpeedsNearZero) {
  TestRandom random(99);
  for (int round = 0; round < 60; ++round) {
    std::vector<CubicPiece<dvec2>> pieces;
    dvec2 at(0.0);
    for (int i = 0; i < 4; ++i) {
      CubicPiece<dvec2> piece{at, random.vector<dvec2>(-2, 2), random.vector<dvec2>(-6, 6),
                              random.vector<dvec2>(-4, 4)};
      // The derivative almost vanishes at some u: nearly a cusp.
      const double u = random.between(0, 1);
      piece.c1 = -(2.0 * u * piece.c2 + 3.0 * u * u * piece.c3) + random.vector<dvec2>(-1e-4, 1e-4);
      at = piece.position(1.0);
      pieces.push_back(piece);
    }
    const CubicPath<dvec2> path(pieces, at, false);
    const auto table = table_of(path, 1e-5);
    ASSERT_NEAR(table.length(), BruteForce<dvec2>(path).length(), 1e-5);
    EXPECT_LT(table.part_count(), 2000u);
  }
}

TEST(ArcLength, ConstantSpeedTravelIsConstant) {
  TestRandom random(8);
  const auto curve = CatmullRom<dvec3>::make(random.points<dvec3>(12), {CatmullRomKnots::centripetal});
  const auto table = table_of(curve->path(), 1e-7);
  const double step = table.length() / 5000;
  for (int i = 0; i < 5000; ++i) {
    const dvec3 a = curve->position(table.parameter_at(step * i));
    const dvec3 b = curve->position(table.parameter_at(step * (i + 1)));
    EXPECT_NEAR(glm::length(b - a), step, 0.01 * step);
  }
}

TEST(ArcLength, EndsNanAndTolerances) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto curve = CatmullRom<double>::make(std::vector<double>{0.0, 1.0, 3.0});
  const auto table = table_of(curve->path(), 1e-6);
  EXPECT_EQ(table.parameter_at(-1.0), 0.0);
  EXPECT_EQ(table.parameter_at(nan), 0.0);
  EXPECT_EQ(table.parameter_at(1e9), 2.0);
  EXPECT_EQ(table.parameter_at(table.length()), 2.0);
  EXPECT_EQ(table.distance_at(nan), 0.0);
  EXPECT_EQ(table.distance_at(2.0), table.length());
  EXPECT_EQ(table.distance_at(7.0), table.length());
  EXPECT_FALSE(ArcLengthTable::make(curve->path(), 0.0));
  EXPECT_FALSE(ArcLengthTable::make(curve->path(), nan));
  EXPECT_FALSE(ArcLengthTable::make(curve->path(), -1.0));
  EXPECT_GE(table_of(curve->path(), 1e-300).tolerance(), 1e-12);
  const auto still = polyline_path<dvec2>(std::vector<dvec2>{{1, 1}, {1, 1}}, false);
  const auto zero = table_of(*still, 1e-6);
  EXPECT_EQ(zero.length(), 0.0);
  EXPECT_EQ(zero.parameter_at(0.5), 1.0);
  EXPECT_EQ(zero.distance_at(0.5), 0.0);
}

TEST(ArcLength, HugeAndTinyCurves) {
  for (const double scale : {1e-30, 1e-6, 1e6, 1e90}) {
    const std::vector<dvec2> p{{0, 0}, {scale, 0}, {scale, scale}};
    const auto curve = CatmullRom<dvec2>::make(p, {CatmullRomKnots::centripetal});
    const auto table = table_of(curve->path(), 1e-6 * scale);
    EXPECT_NEAR(table.distance_at(table.parameter_at(scale)) / scale, 1.0, 1e-5);
    EXPECT_LT(table.part_count(), 200u);
  }
}

TEST(ArcLength, IsIndependentOfTheEasingOfATcbPath) {
  std::vector<TcbKey<dvec2>> keys{
      {0, {0, 0}}, {1, {4, 1}, {0.5, 0.3, 0}, 0.4, 0.4}, {3, {5, 7}}, {4, {0, 8}}};
  const auto spline = TcbSpline<dvec2>::make(keys);
  check_against_quadrature(spline->path(), 1e-5);
  const auto table = table_of(spline->path(), 1e-6);
  for (double d = 0.1; d < table.length(); d += 0.3) {
    const double time = spline->time_at(table.parameter_at(d));
    EXPECT_NEAR(table.distance_at(spline->path_parameter(time)), d, 1e-5);
  }
}

}  // namespace
}  // namespace reckoner
