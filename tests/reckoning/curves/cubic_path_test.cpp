// SPDX-License-Identifier: MIT
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;

TEST(CubicPath, PolylineIsStraightBetweenPoints) {
  const std::vector<dvec2> p{{0, 0}, {4, 0}, {4, 2}};
  const auto open = polyline_path<dvec2>(p, false);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->piece_count(), 2u);
  EXPECT_EQ(open->position(0.25), dvec2(1, 0));
  EXPECT_EQ(open->position(2.0), p[2]);
  EXPECT_EQ(open->derivative(1.0), dvec2(0, 2));  // at a joint: that of the next piece
  EXPECT_EQ(open->derivative(2.0), dvec2(0, 2));  // at the end: that of the last piece
  const auto closed = polyline_path<dvec2>(p, true);
  EXPECT_EQ(closed->piece_count(), 3u);
  EXPECT_EQ(closed->position(2.5), dvec2(2, 1));
  EXPECT_EQ(closed->position(3.0), p[0]);
  EXPECT_EQ(closed->derivative(3.0), dvec2(4, 0));
  const auto alone = polyline_path<dvec2>(std::vector<dvec2>{{3, 4}}, true);
  EXPECT_EQ(alone->position(0.5), dvec2(3, 4));
  EXPECT_FALSE(polyline_path<dvec2>(std::vector<dvec2>{}, false));
}

TEST(CubicPath, BSplineTouchesEveryEdgeInTheMiddleWithoutCorners) {
  const std::vector<dvec2> p{{0, 0}, {4, 0}, {4, 2}, {8, 6}, {0, 9}};
  for (const bool closed : {false, true}) {
    const auto path = quadratic_b_spline_path<dvec2>(p, closed);
    ASSERT_TRUE(path);
    const auto pieces = path->pieces();
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const dvec2 in = glm::normalize(pieces[i - 1].derivative(1.0));
      const dvec2 out = glm::normalize(pieces[i].derivative(0.0));
      EXPECT_LT(glm::length(in - out), 1e-14);
      EXPECT_LT(glm::length(pieces[i - 1].position(1.0) - pieces[i].position(0.0)), 1e-14);
    }
    EXPECT_EQ(pieces.size(), 5u);
  }
  const auto open = quadratic_b_spline_path<dvec2>(p, false);
  EXPECT_EQ(open->position(0.0), p.front());
  EXPECT_EQ(open->position(5.0), p.back());
  EXPECT_EQ(open->position(1.0), dvec2(2, 0));
  const auto closed = quadratic_b_spline_path<dvec2>(p, true);
  EXPECT_EQ(closed->position(0.0), closed->position(5.0));
}

}  // namespace
}  // namespace reckoner
