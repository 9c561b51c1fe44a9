// SPDX-License-Identifier: MIT
#include "harness/commands/motion/curve_command.hpp"

#include <cmath>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

struct Row {
  double t, distance, x, y, z, dx, dy, dz;
};

CurveArguments arguments(const std::string& kind, int samples = 4) {
  CurveArguments a;
  a.kind = kind;
  a.samples = samples;
  return a;
}

std::vector<Row> rows_of(const CurveArguments& a, std::string_view points) {
  const auto csv = curve_csv(a, points);
  EXPECT_TRUE(csv) << csv.error();
  if (!csv) return {};
  std::istringstream in(*csv);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "t,distance,x,y,z,dx,dy,dz");
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    Row r{};
    char comma = 0;
    std::istringstream fields(line);
    fields >> r.t >> comma >> r.distance >> comma >> r.x >> comma >> r.y >> comma >> r.z >> comma >> r.dx >>
        comma >> r.dy >> comma >> r.dz;
    EXPECT_TRUE(fields) << line;
    rows.push_back(r);
  }
  return rows;
}

std::string error_of(const CurveArguments& a, std::string_view points) {
  const auto csv = curve_csv(a, points);
  EXPECT_FALSE(csv);
  return csv ? "" : csv.error();
}

TEST(CurveCommand, CatmullRomMatchesTheReferenceValues) {
  const auto rows = rows_of(arguments("catmull-rom"), "1\n2\n2\n1\n");
  ASSERT_EQ(rows.size(), 13u);
  const double expected[] = {2.0, 2.09375, 2.125, 2.09375, 2.0};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(rows[4 + i].x, expected[i]);
    EXPECT_DOUBLE_EQ(rows[4 + i].t, 1.0 + 0.25 * static_cast<double>(i));
    EXPECT_EQ(rows[4 + i].y, 0.0);
  }
  EXPECT_DOUBLE_EQ(rows[4].dx, 0.5);
  EXPECT_EQ(rows.back().x, 1.0);
}

TEST(CurveCommand, UniformSpeedIsEvenInDistance) {
  CurveArguments a = arguments("catmull-rom", 25);
  a.uniform_speed = true;
  a.knots = "centripetal";
  const auto rows = rows_of(a, "x,y\n0,0\n\n# a comment\n10, 0\r\n10,10\n-3,12\n");
  ASSERT_EQ(rows.size(), 76u);
  const double step = rows.back().distance / 75.0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_NEAR(rows[i].distance - rows[i - 1].distance, step, 1e-9);
    EXPECT_NEAR(std::hypot(rows[i].x - rows[i - 1].x, rows[i].y - rows[i - 1].y), step, 0.01 * step);
  }
  EXPECT_EQ(rows.front().t, 0.0);
  EXPECT_EQ(rows.back().t, 3.0);
}

TEST(CurveCommand, ClosedCurvesEndAtTheirStart) {
  CurveArguments a = arguments("catmull-rom", 10);
  a.closed = true;
  const auto rows = rows_of(a, "0,0\n4,0\n4,4\n");
  ASSERT_EQ(rows.size(), 31u);
  EXPECT_EQ(rows.front().x, rows.back().x);
  EXPECT_EQ(rows.front().y, rows.back().y);
}

TEST(CurveCommand, TcbUsesKeyTime) {
  const auto rows = rows_of(arguments("tcb", 10),
                            "t,x,y,z,tension,continuity,bias,ease_to,ease_from\n"
                            "0.1,0,0,0,0,0,0,0,0\n0.7,3,4,0,0.5,0,0,0.4,0.4\n2.3,9,4,1,0,0,0,0,0\n");
  ASSERT_EQ(rows.size(), 21u);
  EXPECT_EQ(rows[0].t, 0.1);
  EXPECT_EQ(rows[10].t, 0.7);
  EXPECT_EQ(rows[10].x, 3.0);
  EXPECT_EQ(rows[10].dx, 0.0);  // eased to a stop
  EXPECT_EQ(rows[20].t, 2.3);
  EXPECT_EQ(rows[20].z, 1.0);
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_GT(rows[i].distance, rows[i - 1].distance);
  CurveArguments even = arguments("tcb", 10);
  even.uniform_speed = true;
  const auto spread = rows_of(even, "0,0,0,0\n1,10,0,0\n");  // the columns from tension on are optional
  ASSERT_EQ(spread.size(), 11u);
  for (std::size_t i = 0; i < spread.size(); ++i)
    EXPECT_NEAR(spread[i].x, static_cast<double>(i), 1e-5);
  const auto one = rows_of(arguments("tcb"), "5,1,2,3\n");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].t, 5.0);
  EXPECT_EQ(one[0].z, 3.0);
}

TEST(CurveCommand, ChaikinPrintsItsPoints) {
  CurveArguments a = arguments("chaikin");
  const auto rows = rows_of(a, "0,0\n4,0\n4,8\n");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[1].x, 1.0);
  EXPECT_EQ(rows[3].y, 2.0);
  EXPECT_EQ(rows[5].t, 5.0);
  EXPECT_DOUBLE_EQ(rows[2].distance, 3.0);
  EXPECT_EQ(rows[1].dx, 2.0);  // towards the next point
  a.angle_limit_deg = 30.0;
  EXPECT_EQ(rows_of(a, "0,0\n4,0\n8,1\n").size(), 3u);
  a.outlier_limit_deg = 90.0;
  EXPECT_EQ(rows_of(a, "0,0\n1,0\n2,0\n2.5,9\n3,0\n4,0\n").size(), 5u);
  a = arguments("chaikin");
  a.closed = true;
  EXPECT_EQ(rows_of(a, "0,0\n4,0\n4,4\n0,4\n").size(), 8u);
  EXPECT_EQ(rows_of(a, "").size(), 0u);
  EXPECT_EQ(rows_of(a, "3,3\n").size(), 1u);
}

TEST(CurveCommand, ChaikinAtUniformSpeed) {
  CurveArguments a = arguments("chaikin");
  a.uniform_speed = true;
  const auto rows = rows_of(a, "0,0\n4,0\n4,8\n");
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(rows[i].distance, rows[5].distance * static_cast<double>(i) / 5.0, 1e-9);
  }
}

TEST(CurveCommand, ErrorsNameTheLineAndTheReason) {
  const CurveArguments a = arguments("catmull-rom");
  EXPECT_NE(error_of(a, "1,2\n3,x\n").find("line 2: 'x'"), std::string::npos);
  EXPECT_NE(error_of(a, "1,2\n3,nan\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of(a, "1,2\n\n3\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of(a, "1,2,3,4\n").find("line 1"), std::string::npos);
  EXPECT_NE(error_of(a, "1x,2\n3,4\n").find("line 1"), std::string::npos);  // a typing error, not a header
  EXPECT_NE(error_of(a, "1,\n3,4\n").find("line 1: ''"), std::string::npos);
  EXPECT_NE(error_of(a, "1,2\n").find("at least 2 points"), std::string::npos);
  EXPECT_NE(error_of(a, "").find("at least 2 points"), std::string::npos);
  EXPECT_NE(error_of(arguments("catmull-rom", 0), "1\n2\n").find("--samples"), std::string::npos);
  EXPECT_NE(error_of(arguments("bezier"), "1\n2\n").find("bezier"), std::string::npos);
  EXPECT_NE(error_of(arguments("tcb"), "0,1,2,3\n0,1,2,3\n").find("key 1"), std::string::npos);
  EXPECT_NE(error_of(arguments("tcb"), "0,1,2\n").find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::harness
