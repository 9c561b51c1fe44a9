// SPDX-License-Identifier: MIT
#include "scenario/trace/pose_csv.hpp"

#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

std::string temporary(const std::string& name) {
  return testing::TempDir() + "reckoner_pose_csv_" + name;
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string write_all(const std::string& name, const std::vector<PoseRow>& rows, PoseColumns columns) {
  const std::string path = temporary(name);
  auto writer = PoseCsvWriter::open(path, columns);
  EXPECT_TRUE(writer) << writer.error();
  for (const PoseRow& row : rows)
    writer->write(row);
  EXPECT_TRUE(writer->close());
  return path;
}

std::string csv_error_of(const std::string& text) {
  const auto rows = parse_pose_csv(text, "out.csv");
  return rows ? "" : rows.error();
}

TEST(PoseCsv, WritesTheColumnsInTheirOrder) {
  const PoseRow row{.frame_time_s = 1.0 / 3.0,
                    .id = "car 1",
                    .pose = {{1.5, -2.0, 0.0000004}, glm::quat(0.5f, -0.5f, 0.5f, -0.5f)},
                    .shown_time_s = 0.25,
                    .monotonic_s = 123456.7890126};
  const std::string start =
      "0.333333,car 1,1.500000,-2.000000,0.000000,0.500000,-0.500000,0.500000,-0.500000";
  EXPECT_EQ(contents(write_all("a", {row}, {})), "frame_time_s,id,x,y,z,qw,qx,qy,qz\n" + start + "\n");
  EXPECT_EQ(contents(write_all("b", {row}, {.shown_time = true})),
            "frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s\n" + start + ",0.250000\n");
  EXPECT_EQ(contents(write_all("c", {row}, {.monotonic = true})),
            "frame_time_s,id,x,y,z,qw,qx,qy,qz,monotonic_s\n" + start + ",123456.789013\n");
  EXPECT_EQ(
      contents(write_all("d", {row}, {.shown_time = true, .monotonic = true})),
      "frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s\n" + start + ",0.250000,123456.789013\n");
}

TEST(PoseCsv, WritesNoNegativeZeroAndIdentityWithoutOrientation) {
  const PoseRow row{.id = "0", .pose = {.position = {-0.0, -0.0000001, -6378137.25}}};
  EXPECT_EQ(contents(write_all("zero", {row}, {})),
            "frame_time_s,id,x,y,z,qw,qx,qy,qz\n"
            "0.000000,0,0.000000,0.000000,-6378137.250000,1.000000,0.000000,0.000000,0.000000\n");
}

TEST(PoseCsv, QuotesIdsOnlyWhereNeeded) {
  std::vector<PoseRow> rows;
  for (const char* id : {"plain id", "a,b", "say \"hi\"", "two\nlines", "", "#1"}) {
    rows.push_back({.frame_time_s = 1.0, .id = id});
  }
  const std::string path = write_all("ids", rows, {});
  const std::string text = contents(path);
  EXPECT_NE(text.find(",plain id,"), std::string::npos);
  EXPECT_NE(text.find(",\"a,b\","), std::string::npos);
  EXPECT_NE(text.find(",\"say \"\"hi\"\"\","), std::string::npos);
  const auto read = read_pose_csv(path);
  ASSERT_TRUE(read) << read.error();
  ASSERT_EQ(read->size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ((*read)[i].id, rows[i].id);
}

TEST(PoseCsv, RoundTrips) {
  Random random(4);
  std::vector<PoseRow> rows;
  for (int i = 0; i < 5000; ++i) {
    PoseRow row{.frame_time_s = random.uniform(-10.0, 1e5), .id = "e" + std::to_string(random.below(100))};
    row.pose.position = glm::dvec3{random.normal(), random.normal(), random.normal()} * 1e4;
    row.pose.orientation =
        glm::quat(rotation_exp(glm::dvec3{random.normal(), random.normal(), random.normal()}));
    row.shown_time_s = row.frame_time_s - random.uniform();
    if (i % 3 != 0) row.monotonic_s = random.uniform(0.0, 1e7);
    rows.push_back(row);
  }
  const auto read = read_pose_csv(write_all("round", rows, {.shown_time = true, .monotonic = true}));
  ASSERT_TRUE(read) << read.error();
  ASSERT_EQ(read->size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PoseRow& a = rows[i];
    const PoseRow& b = (*read)[i];
    ASSERT_NEAR(a.frame_time_s, b.frame_time_s, 0.51e-6);
    ASSERT_EQ(a.id, b.id);
    ASSERT_LT(glm::length(a.pose.position - b.pose.position), 1e-6);
    ASSERT_LT(angle_between(a.pose.orientation, b.pose.orientation), 4e-6);
    ASSERT_NEAR(*a.shown_time_s, b.shown_time_s.value(), 0.51e-6);
    ASSERT_EQ(a.monotonic_s.has_value(), b.monotonic_s.has_value());
    if (a.monotonic_s) {
      ASSERT_NEAR(*a.monotonic_s, *b.monotonic_s, 0.51e-6);
    }
  }
}

TEST(PoseCsv, MovedWriterKeepsItsFile) {
  const std::string path = temporary("moved");
  auto first = PoseCsvWriter::open(path, {});
  ASSERT_TRUE(first);
  first->write({.frame_time_s = 1.0, .id = "a"});
  {
    PoseCsvWriter second = std::move(*first);
    second.write({.frame_time_s = 2.0, .id = "b"});
  }
  const auto read = read_pose_csv(path);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->size(), 2u);
}

TEST(PoseCsv, ReportsWriteErrors) {
  const auto writer = PoseCsvWriter::open("no_such_folder/out.csv", {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error(), "no_such_folder/out.csv: cannot be written: No such file or directory");
  auto full = PoseCsvWriter::open("/dev/full", {});
  if (!full) GTEST_SKIP() << "this system has no /dev/full";
  full->write({.id = "a"});
  EXPECT_FALSE(full->close());
  EXPECT_FALSE(full->close());
}

TEST(PoseCsv, FrameHasItsOwnColumn) {
  const auto rows = parse_pose_csv(
      "frame_time_s,id,x,y,z,qw,qx,qy,qz,monotonic_s,frame\n"
      "0,ship,1,2,3,1,0,0,0,5,\n"
      "0,cook,1,2,4,1,0,0,0,5,ship\n",
      "truth.csv");
  ASSERT_TRUE(rows) << rows.error();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].frame, "");
  EXPECT_EQ((*rows)[1].frame, "ship");
  EXPECT_EQ((*rows)[1].monotonic_s, 5.0);
}

TEST(PoseCsv, ErrorsNameTheLineAndTheReason) {
  const std::string header = "frame_time_s,id,x,y,z,qw,qx,qy,qz";
  const std::string row = "0,a,1,2,3,1,0,0,0";
  EXPECT_EQ(csv_error_of(header + "\n" + row + "\n"), "");
  EXPECT_EQ(csv_error_of(header + ",monotonic_s\r\n" + row + ",7\r\n"), "");
  EXPECT_EQ(csv_error_of(header + "\n"), "");
  EXPECT_EQ(csv_error_of(""), "out.csv:1: expected a header, found the end of the file");
  EXPECT_EQ(csv_error_of("t,x\n"),
            "out.csv:1: expected a header frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s,frame "
            "(the last three are optional), found 't,x'");
  EXPECT_NE(csv_error_of(header + ",monotonic_s,shown_time_s\n"), "");
  EXPECT_EQ(csv_error_of(header + "\n" + row + ",5\n"), "out.csv:2: expected 9 fields, found 10");
  EXPECT_EQ(csv_error_of(header + ",shown_time_s\n" + row + "\n"), "out.csv:2: expected 10 fields, found 9");
  EXPECT_EQ(csv_error_of(header + "\n" + row + "\n0,a,1,2,x,1,0,0,0\n"),
            "out.csv:3: expected a finite number, found 'x'");
  EXPECT_EQ(csv_error_of(header + "\n0,a,1,nan,3,1,0,0,0\n"),
            "out.csv:2: expected a finite number, found 'nan'");
  EXPECT_EQ(csv_error_of(header + "\n0,a,1,2,3,0,0,0,0\n"),
            "out.csv:2: expected a unit quaternion, found a quaternion of length 0.000000");
  EXPECT_FALSE(read_pose_csv("no_such_folder/in.csv"));
}

}  // namespace
}  // namespace reckoner::scenario
