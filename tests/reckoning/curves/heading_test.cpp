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

CubicPath<dvec3> random_path(std::uint64_t seed, CatmullRomEnds ends = CatmullRomEnds::doubled) {
  TestRandom random(seed);
  return CatmullRom<dvec3>::make(random.points<dvec3>(8), {CatmullRomKnots::centripetal, ends})->path();
}

CubicPath<dvec3> helix() {
  std::vector<dvec3> p;
  for (int i = 0; i <= 80; ++i)
    p.push_back({3 * std::cos(0.2 * i), 3 * std::sin(0.2 * i), 0.2 * i});
  return CatmullRom<dvec3>::make(p, {CatmullRomKnots::uniform, CatmullRomEnds::reflected})->path();
}

void expect_right_handed(const TangentFrame& f) {
  EXPECT_NEAR(glm::length(f.tangent), 1.0, 1e-12);
  EXPECT_NEAR(glm::length(f.left), 1.0, 1e-12);
  EXPECT_LT(glm::length(glm::cross(f.tangent, f.left) - f.up), 1e-12);
  EXPECT_NEAR(glm::dot(f.tangent, f.up), 0.0, 1e-12);
}

TEST(Heading, TangentIsTheUnitDerivative) {
  const auto path = random_path(1);
  for (double t = 0.0; t <= 7.0; t += 0.1) {
    EXPECT_LT(glm::length(unit_tangent(path, t) - glm::normalize(path.derivative(t))), 1e-14);
  }
}

TEST(Heading, TangentIsTheDerivativeByDistance) {
  const auto path = random_path(2);
  const auto arc = ArcLengthTable::make(path, 1e-8);
  const double h = 1e-3;
  for (double d = 0.5; d < arc->length() - 0.5; d += 0.77) {
    const auto at = at_distance(path, *arc, d);
    const dvec3 rate =
        (at_distance(path, *arc, d + h).position - at_distance(path, *arc, d - h).position) / (2 * h);
    EXPECT_LT(glm::length(rate - at.derivative), 1e-3) << d;
    EXPECT_NEAR(glm::length(at.derivative), 1.0, 1e-14);
  }
}

TEST(Heading, TangentIsDefinedWhereTheDerivativeVanishes) {
  const CubicPath<dvec2> cubed({{{0, 0}, {0, 0}, {0, 0}, {0, 2}}}, {0, 2}, false);
  EXPECT_EQ(unit_tangent(cubed, 0.0), dvec2(0, 1));
  const CubicPath<dvec2> squared({{{0, 0}, {0, 0}, {-3, 0}}}, {-3, 0}, false);
  EXPECT_EQ(unit_tangent(squared, 0.0), dvec2(-1, 0));
  const CubicPath<dvec2> arriving({{{0, 0}, {2, 0}, {-1, 0}}}, {1, 0}, false);  // slows down to 0 at the end
  EXPECT_EQ(unit_tangent(arriving, 1.0), dvec2(1, 0));
  const auto rests = polyline_path<dvec2>(std::vector<dvec2>{{0, 0}, {0, 0}, {0, 5}, {0, 5}}, false);
  for (const double t : {0.0, 0.5, 1.0, 1.5, 2.5, 3.0})
    EXPECT_EQ(unit_tangent(*rests, t), dvec2(0, 1)) << t;
  const auto still = polyline_path<dvec2>(std::vector<dvec2>{{3, 3}, {3, 3}}, false);
  EXPECT_EQ(unit_tangent(*still, 0.5), dvec2(0, 0));
  EXPECT_EQ(curvature(*still, 0.5), dvec2(0, 0));
}

TEST(Heading, CurvatureOfACircleIsOneOverItsRadius) {
  std::vector<dvec2> ring;
  for (int i = 0; i < 64; ++i)
    ring.push_back({5 * std::cos(i * std::numbers::pi / 32), 5 * std::sin(i * std::numbers::pi / 32)});
  const auto path = CatmullRom<dvec2>::make(ring, {CatmullRomKnots::uniform, CatmullRomEnds::closed})->path();
  for (double t = 0.5; t < 64; t += 1.0) {
    const dvec2 k = curvature(path, t);
    EXPECT_NEAR(glm::length(k), 0.2, 0.002);
    EXPECT_LT(glm::dot(k, path.position(t)), 0.0);  // inwards
  }
}

TEST(Heading, YawAndPitch) {
  EXPECT_NEAR(heading_of({0, 2, 0}).yaw, std::numbers::pi / 2, 1e-15);
  EXPECT_NEAR(heading_of({1, 0, 1}).pitch, std::numbers::pi / 4, 1e-15);
  EXPECT_NEAR(heading_of({0, 0, -3}).pitch, -std::numbers::pi / 2, 1e-15);
  EXPECT_EQ(heading_of({0, 0, -3}).yaw, 0.0);
  EXPECT_EQ(heading_of({0, 0, 0}).pitch, 0.0);
  TestRandom random(3);
  for (int i = 0; i < 100; ++i) {
    const dvec3 d = glm::normalize(random.vector<dvec3>(-1, 1));
    const glm::dquat q = orientation_of(heading_of(d));
    EXPECT_LT(glm::length(q * dvec3(1, 0, 0) - d), 1e-14);
    EXPECT_NEAR((q * dvec3(0, 1, 0)).z, 0.0, 1e-14);  // horizontal
    EXPECT_GE((q * dvec3(0, 0, 1)).z, 0.0);
    const TangentFrame f = frame_towards(d, {0, 0, 1});
    expect_right_handed(f);
    EXPECT_LT(glm::length(f.orientation() * dvec3(0, 0, 1) - q * dvec3(0, 0, 1)), 1e-12);
  }
  for (const dvec3 d : {dvec3(0, 0, 1), dvec3(0, 0, -1)})
    expect_right_handed(frame_towards(d, {0, 0, 1}));
}

// The defining equation of a rotation-minimising frame, integrated with many small steps: up' = -(T' . up) T.
dvec3 transported_up(const CubicPath<dvec3>& path, const dvec3& up, double from, double to, int steps) {
  dvec3 u = up;
  for (int i = 0; i < steps; ++i) {
    const dvec3 a = unit_tangent(path, from + (to - from) * i / steps);
    const dvec3 b = unit_tangent(path, from + (to - from) * (i + 1) / steps);
    u -= (a + b) * (glm::dot(u, b) / (1.0 + glm::dot(a, b)));
  }
  return u;
}

TEST(FrameTable, DoesNotRoll) {
  for (const auto& path : {helix(), random_path(5), random_path(6)}) {
    const auto arc = ArcLengthTable::make(path);
    const FrameTable frames(path, *arc);
    const double end = path.end_parameter();
    const TangentFrame start = frames.frame(path, *arc, 0.0);
    for (const double share : {0.1, 0.37, 0.8, 1.0}) {
      const TangentFrame f = frames.frame(path, *arc, share * end);
      expect_right_handed(f);
      EXPECT_LT(glm::length(f.tangent - unit_tangent(path, share * end)), 1e-12);
      EXPECT_LT(glm::length(f.up - transported_up(path, start.up, 0.0, share * end, 40000)), 2e-5) << share;
    }
  }
}

TEST(FrameTable, IsContinuous) {
  const auto path = random_path(9);
  const auto arc = ArcLengthTable::make(path);
  const FrameTable frames(path, *arc);
  TangentFrame last = frames.frame(path, *arc, 0.0);
  for (double t = 0.0005; t < 7.0; t += 0.0005) {
    const TangentFrame f = frames.frame(path, *arc, t);
    EXPECT_LT(glm::length(f.up - last.up), 2.0 * glm::length(f.tangent - last.tangent) + 1e-6) << t;
    last = f;
  }
}

TEST(FrameTable, ReturnsToItsStartOnAClosedPath) {
  const auto path = random_path(12, CatmullRomEnds::closed);
  const auto arc = ArcLengthTable::make(path);
  const FrameTable closed(path, *arc);
  const TangentFrame first = closed.frame(path, *arc, 0.0);
  const TangentFrame last = closed.frame(path, *arc, path.end_parameter());
  EXPECT_LT(glm::length(first.up - last.up), 1e-9);
  EXPECT_NE(closed.closing_roll_rate(), 0.0);
  const FrameTable open(path, *arc, {.close = false});
  EXPECT_EQ(open.closing_roll_rate(), 0.0);
  EXPECT_GT(glm::length(first.up - open.frame(path, *arc, path.end_parameter()).up), 1e-3);
}

TEST(FrameTable, TurnsByTheSmallestAngleAtCornersAndReversals) {
  const std::vector<dvec3> p{{0, 0, 0}, {5, 0, 0}, {5, 5, 0}, {5, 5, 5}, {5, 5, 0}};
  const auto path = polyline_path<dvec3>(p, false);
  const auto arc = ArcLengthTable::make(*path);
  const FrameTable frames(*path, *arc);
  EXPECT_LT(glm::length(frames.frame(*path, *arc, 0.5).up - dvec3(0, 0, 1)), 1e-12);
  EXPECT_LT(glm::length(frames.frame(*path, *arc, 1.5).up - dvec3(0, 0, 1)), 1e-12);
  EXPECT_LT(glm::length(frames.frame(*path, *arc, 2.5).up - dvec3(0, -1, 0)), 1e-12);
  EXPECT_LT(glm::length(frames.frame(*path, *arc, 3.5).up - dvec3(0, -1, 0)), 1e-12);
  for (double t = 0.0; t <= 4.0; t += 0.1)
    expect_right_handed(frames.frame(*path, *arc, t));
}

TEST(FrameTable, HandlesAPathOfASinglePoint) {
  const auto path = polyline_path<dvec3>(std::vector<dvec3>{{1, 1, 1}, {1, 1, 1}}, true);
  const auto arc = ArcLengthTable::make(*path);
  const FrameTable frames(*path, *arc);
  expect_right_handed(frames.frame(*path, *arc, 0.7));
}

}  // namespace
}  // namespace reckoner
