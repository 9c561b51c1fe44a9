// SPDX-License-Identifier: MIT
#include "random_points.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;
using glm::dvec3;
using Knots = CatmullRomKnots;
using Ends = CatmullRomEnds;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <CurveVector V>
CatmullRom<V> curve(const std::vector<V>& points, CatmullRomOptions options = {}) {
  auto made = CatmullRom<V>::make(points, options);
  EXPECT_TRUE(made) << made.error();
  return *made;
}

TEST(CatmullRom, MatchesTheReferenceValues) {
  const std::array<double, 5> expected{2.0, 2.09375, 2.125, 2.09375, 2.0};
  const auto c = curve<double>({1.0, 2.0, 2.0, 1.0});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double t = 0.25 * static_cast<double>(i);
    EXPECT_DOUBLE_EQ(catmull_rom(1.0, 2.0, 2.0, 1.0, t), expected[i]);
    EXPECT_DOUBLE_EQ(c.position(1.0 + t), expected[i]);
  }
}

// Barry and Goldman's pyramid on explicit knots: an independent construction of the same cubic.
dvec2 pyramid(const std::array<dvec2, 4>& p, const std::array<double, 4>& k, double t) {
  const auto mix = [t](const dvec2& a, const dvec2& b, double ka, double kb) {
    return ((kb - t) * a + (t - ka) * b) / (kb - ka);
  };
  const dvec2 a1 = mix(p[0], p[1], k[0], k[1]), a2 = mix(p[1], p[2], k[1], k[2]),
              a3 = mix(p[2], p[3], k[2], k[3]);
  const dvec2 b1 = mix(a1, a2, k[0], k[2]), b2 = mix(a2, a3, k[1], k[3]);
  return mix(b1, b2, k[1], k[2]);
}

TEST(CatmullRom, MatchesBarryAndGoldmanOnAllKnots) {
  const std::array<dvec2, 4> p{dvec2{0, 0}, dvec2{1, 3}, dvec2{1.2, 3.1}, dvec2{9, -2}};
  for (const auto& [knots, alpha] :
       {std::pair{Knots::uniform, 0.0}, {Knots::centripetal, 0.5}, {Knots::chordal, 1.0}}) {
    std::array<double, 4> k{0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 1; i < 4; ++i)
      k[i] = k[i - 1] + std::pow(glm::length(p[i] - p[i - 1]), alpha);
    const auto c = curve<dvec2>({p.begin(), p.end()}, {knots, Ends::doubled});
    EXPECT_NEAR(c.knot_interval(1), k[2] - k[1], 1e-15);
    for (double u = 0.0; u <= 1.0; u += 0.125) {
      const dvec2 expected = pyramid(p, k, k[1] + u * (k[2] - k[1]));
      EXPECT_LT(glm::length(c.position(1.0 + u) - expected), 1e-13) << u;
    }
  }
}

TEST(CatmullRom, EndsAreDoubledReflectedOrClosed) {
  const std::vector<dvec2> p{{0, 0}, {2, 0}, {4, 4}, {0, 6}};
  const auto doubled = curve(p, {Knots::uniform, Ends::doubled});
  const auto reflected = curve(p, {Knots::uniform, Ends::reflected});
  const auto closed = curve(p, {Knots::uniform, Ends::closed});
  for (double u = 0.0; u <= 1.0; u += 0.25) {
    EXPECT_LT(glm::length(doubled.position(u) - catmull_rom(p[0], p[0], p[1], p[2], u)), 1e-14);
    EXPECT_LT(glm::length(doubled.position(2 + u) - catmull_rom(p[1], p[2], p[3], p[3], u)), 1e-14);
    EXPECT_LT(glm::length(reflected.position(u) - catmull_rom(2.0 * p[0] - p[1], p[0], p[1], p[2], u)),
              1e-14);
    EXPECT_LT(glm::length(reflected.position(2 + u) - catmull_rom(p[1], p[2], p[3], 2.0 * p[3] - p[2], u)),
              1e-14);
    EXPECT_LT(glm::length(closed.position(u) - catmull_rom(p[3], p[0], p[1], p[2], u)), 1e-14);
    EXPECT_LT(glm::length(closed.position(3 + u) - catmull_rom(p[2], p[3], p[0], p[1], u)), 1e-14);
  }
  EXPECT_EQ(closed.segment_count(), 4u);
  EXPECT_EQ(closed.position(4.0), p[0]);
  EXPECT_EQ(closed.derivative(4.0), closed.derivative(0.0));
}

template <class V>
class CatmullRomOf : public testing::Test {};
using Dimensions = testing::Types<double, dvec2, dvec3>;
TYPED_TEST_SUITE(CatmullRomOf, Dimensions);

TYPED_TEST(CatmullRomOf, PassesThroughItsPointsExactlyAndIsC1) {
  using V = TypeParam;
  TestRandom random(7);
  for (const Ends ends : {Ends::doubled, Ends::reflected, Ends::closed}) {
    for (const Knots knots : {Knots::uniform, Knots::centripetal, Knots::chordal}) {
      const auto points = random.points<V>(9);
      const auto c = curve(points, {knots, ends});
      for (std::size_t i = 0; i < points.size(); ++i)
        EXPECT_EQ(c.position(static_cast<double>(i)), points[i]);
      for (std::size_t i = 1; i < c.segment_count(); ++i) {
        const auto t = static_cast<double>(i);
        const V before = c.path().pieces()[i - 1].derivative(1.0) / c.knot_interval(i - 1);
        EXPECT_LT(curve_math::length(before - c.derivative(t) / c.knot_interval(i)), 1e-11);
        EXPECT_LT(curve_math::length(c.path().pieces()[i - 1].position(1.0) - points[i]), 1e-13);
      }
    }
  }
}

TYPED_TEST(CatmullRomOf, DerivativesAreThoseOfThePosition) {
  using V = TypeParam;
  TestRandom random(11);
  const auto c = curve(random.points<V>(6), {Knots::centripetal, Ends::reflected});
  const double h = 1e-5;
  for (double t = 0.1; t < 4.95; t += 0.1317) {
    if (std::abs(t - std::round(t)) < 2 * h) continue;
    const V d = (c.position(t + h) - c.position(t - h)) / (2 * h);
    const V dd = (c.derivative(t + h) - c.derivative(t - h)) / (2 * h);
    EXPECT_LT(curve_math::length(d - c.derivative(t)), 1e-6);
    EXPECT_LT(curve_math::length(dd - c.second_derivative(t)), 1e-5);
    EXPECT_EQ(c.evaluate(t).position, c.position(t));
    EXPECT_EQ(c.evaluate(t).derivative, c.derivative(t));
  }
}

TYPED_TEST(CatmullRomOf, SubdividesWithExactJoints) {
  using V = TypeParam;
  TestRandom random(3);
  const auto points = random.points<V>(13);
  for (const std::size_t n : {1u, 3u, 7u, 10u, 49u}) {
    const auto fine = subdivide<V>(points, n);
    ASSERT_TRUE(fine);
    ASSERT_EQ(fine->size(), (points.size() - 1) * n + 1);
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ((*fine)[i * n], points[i]);
    const auto ring = subdivide<V>(points, n, {Knots::chordal, Ends::closed});
    ASSERT_TRUE(ring);
    ASSERT_EQ(ring->size(), points.size() * n + 1);
    EXPECT_EQ(ring->front(), ring->back());
  }
}

TEST(CatmullRom, RepeatedPointsStopWithoutChangingTheShape) {
  const std::vector<dvec2> once{{0, 0}, {3, 1}, {4, 5}, {9, 5}};
  const std::vector<dvec2> twice{{0, 0}, {3, 1}, {3, 1}, {3, 1}, {4, 5}, {9, 5}};
  for (const Knots knots : {Knots::centripetal, Knots::chordal}) {
    for (const Ends ends : {Ends::doubled, Ends::reflected, Ends::closed}) {
      const auto a = curve(once, {knots, ends});
      const auto b = curve(twice, {knots, ends});
      for (double u = 0.0; u < 0.95; u += 0.1) {
        EXPECT_EQ(b.position(u), a.position(u));
        EXPECT_EQ(b.position(1.0 + u), once[1]);
        EXPECT_EQ(b.position(2.0 + u), once[1]);
        EXPECT_EQ(b.derivative(2.0 + u), dvec2(0.0));
        EXPECT_LT(glm::length(b.position(3.0 + u) - a.position(1.0 + u)), 1e-14);
        EXPECT_LT(glm::length(b.position(4.0 + u) - a.position(2.0 + u)), 1e-14);
      }
      EXPECT_EQ(b.knot_interval(1), 0.0);
    }
  }
  // With uniform knots, a repeated point is an ordinary point: the cubic there is not constant.
  const auto uniform = curve(twice);
  EXPECT_NE(uniform.position(1.5), once[1]);
  EXPECT_EQ(uniform.position(3.0), once[1]);
}

TEST(CatmullRom, HandlesRepeatsAtTheEndsAndOnlyRepeats) {
  const std::vector<double> p{1, 1, 2, 5, 5};
  const auto c = curve(p, {Knots::centripetal, Ends::doubled});
  for (double t = 0.0; t <= 4.0; t += 0.01)
    ASSERT_TRUE(std::isfinite(c.position(t)));
  EXPECT_EQ(c.position(0.7), 1.0);
  EXPECT_EQ(c.position(3.3), 5.0);
  const auto still = curve<dvec3>({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {Knots::chordal, Ends::doubled});
  EXPECT_EQ(still.position(1.3), dvec3(1, 2, 3));
  EXPECT_EQ(still.derivative(1.3), dvec3(0.0));
}

TEST(CatmullRom, ClosedCurveIgnoresARepeatOfTheFirstPoint) {
  const std::vector<dvec2> ring{{0, 0}, {4, 0}, {4, 4}};
  std::vector<dvec2> repeated = ring;
  repeated.push_back(ring[0]);
  const auto a = curve(ring, {Knots::uniform, Ends::closed});
  const auto b = curve(repeated, {Knots::uniform, Ends::closed});
  ASSERT_EQ(b.segment_count(), 3u);
  for (double t = 0.0; t <= 3.0; t += 0.1)
    EXPECT_EQ(a.position(t), b.position(t));
}

TEST(CatmullRom, TwoPointsAndPointsCloseTogether) {
  const auto line = curve<dvec2>({{0, 0}, {10, 0}}, {Knots::uniform, Ends::reflected});
  EXPECT_DOUBLE_EQ(line.position(0.3).x, 3.0);  // a mirrored neighbour makes it straight with constant speed
  const auto eased = curve<dvec2>({{0, 0}, {10, 0}});
  EXPECT_DOUBLE_EQ(eased.derivative(0.0).x, 5.0);
  const auto close =
      curve<dvec2>({{0, 0}, {1, 0}, {1 + 1e-13, 0}, {2, 1}}, {Knots::centripetal, Ends::doubled});
  for (double t = 0.0; t <= 3.0; t += 0.01) {
    const dvec2 p = close.position(t);
    ASSERT_TRUE(p.x >= -1e-9 && p.x <= 2.0 + 1e-9 && std::abs(p.y) < 1.2) << t;
  }
}

TEST(CatmullRom, ClampsParametersToTheEnds) {
  const auto c = curve<double>({1.0, 2.0, 4.0});
  EXPECT_EQ(c.position(-5.0), 1.0);
  EXPECT_EQ(c.position(99.0), 4.0);
  EXPECT_EQ(c.position(kInfinity), 4.0);
  EXPECT_EQ(c.position(kNan), 1.0);
}

TEST(CatmullRom, RefusesInvalidPoints) {
  const auto refused = [](const std::vector<double>& p, Ends ends) {
    return !CatmullRom<double>::make(p, {Knots::uniform, ends});
  };
  EXPECT_TRUE(refused({}, Ends::doubled));
  EXPECT_TRUE(refused({1.0}, Ends::doubled));
  EXPECT_TRUE(refused({1.0, 2.0}, Ends::closed));
  EXPECT_TRUE(refused({1.0, 2.0, 1.0}, Ends::closed));
  EXPECT_TRUE(refused({1.0, kNan, 2.0}, Ends::doubled));
  EXPECT_TRUE(refused({1.0, kInfinity}, Ends::doubled));
  EXPECT_TRUE(refused({1.0, 1e101}, Ends::doubled));
  EXPECT_FALSE(subdivide<double>(std::vector<double>{1.0, 2.0}, 0));
  const auto nan = CatmullRom<dvec3>::make(std::vector<dvec3>{{0, 0, 0}, {0, kNan, 0}});
  ASSERT_FALSE(nan);
  EXPECT_NE(nan.error().find("point 1"), std::string::npos);
}

}  // namespace
}  // namespace reckoner
