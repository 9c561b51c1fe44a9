// SPDX-License-Identifier: MIT
#include "scenario/builtin/random.hpp"
#include "scenario/trace/trace.hpp"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

constexpr const char* kValid =
    "# source: somewhere\n"
    "id,t,x,y,z,qw,qx,qy,qz\n"
    "a,0.5,1,2,3,1,0,0,0\n"
    "b,0.25,-1,-2e0,-3.5,0.70711,0,0,0.70711\n"
    "a,1.0,2,2,3,1,0,0,0\n"
    "b,1.25,-2,-2,-3,-0.70711,0,0,-0.70711\n";

std::string recording_error_of(const std::string& text) {
  const Result<std::unique_ptr<Source>> source = parse_trace(text, "walk.csv");
  return source ? "" : source.error();
}

TEST(Recording, ReadsMixedIdsInOrderOfAppearance) {
  const auto source = parse_trace(kValid, "walk.csv");
  ASSERT_TRUE(source) << source.error();
  ASSERT_EQ((*source)->size(), 2u);
  EXPECT_EQ((*source)->entity(0).name, "a");
  EXPECT_EQ((*source)->entity(1).name, "b");
  EXPECT_EQ((*source)->entity(1).first_s, 0.25);
  EXPECT_EQ((*source)->entity(1).last_s, 1.25);
  EXPECT_TRUE((*source)->entity(0).has_orientation);
  EXPECT_EQ((*source)->pose(1, 0.25).position, glm::dvec3(-1.0, -2.0, -3.5));
}

TEST(Recording, AcceptsCrlfCommentsMissingLastNewlineAndByteOrderMark) {
  const auto source =
      parse_trace("\xef\xbb\xbf# c\r\n# d\r\nt,x,y,z\r\n0,1,2,3\r\n# in between\r\n1,2,3,4", "w");
  ASSERT_TRUE(source) << source.error();
  EXPECT_EQ((*source)->size(), 1u);
  EXPECT_EQ((*source)->entity(0).name, "0");
  EXPECT_FALSE((*source)->entity(0).has_orientation);
  EXPECT_EQ((*source)->pose(0, 1.0).position, glm::dvec3(2.0, 3.0, 4.0));
}

TEST(Recording, AcceptsQuotedIds) {
  const auto source = parse_trace("id,t,x,y,z\n\"a, \"\"b\"\"\",0,1,2,3\n\"a, \"\"b\"\"\",1,1,2,3\n", "w");
  ASSERT_TRUE(source) << source.error();
  ASSERT_EQ((*source)->size(), 1u);
  EXPECT_EQ((*source)->entity(0).name, "a, \"b\"");
}

TEST(Recording, ErrorsNameTheLineAndTheReason) {
  const std::string header = "t,x,y,z\n";
  const std::string turned = "id,t,x,y,z,qw,qx,qy,qz\n";
  const struct {
    std::string text;
    std::string message;
  } cases[] = {
      {"", "walk.csv: there are no rows of samples in this file"},
      {"# only this\n", "walk.csv: there are no rows of samples in this file"},
      {"t,x\n0,1\n",
       "walk.csv:1: no headings name a position: say which columns it is in, for example --columns x=2,y=3; "
       "the headings are 1 't', 2 'x'"},
      {"x,y,z\n0,1,2\n",
       "walk.csv:1: no heading names a time: say which column it is, for example --columns t=1, or --columns "
       "t=row --units t=30fps if the rows are evenly spaced in time; the headings are 1 'x', 2 'y', 3 'z'"},
      {"0,1,2,3\n1,1,2,3\n",
       "walk.csv:1: there are no headings: say what the 4 columns are, for example --columns t=1,x=2,y=3, "
       "and "
       "--units t=25fps if t numbers frames; the first row is 1 '0', 2 '1', 3 '2', 4 '3'"},
      {"# c\n" + header, "walk.csv: expected at least one row of samples below the headings, found none"},
      {header + "0,1,2\n1,1,2,3\n", "walk.csv:2: expected 4 fields, found 3"},
      {header + "0,1,two,3\n", "walk.csv:2: expected a number in 'y', found 'two'"},
      {header + "0,1,2m,3\n", "walk.csv:2: expected a number in 'y', found '2m'"},
      {header + "0,1,1e999,3\n", "walk.csv:2: expected a number in 'y', found '1e999'"},
      {header + "soon,1,1,3\n", "walk.csv:2: expected a time in 't', found 'soon'"},
      {header + "0,1,,3\n",
       "walk.csv: no row has both a time and a position; empty fields, NaN and quaternions of length 0 count "
       "as "
       "missing"},
      {header + "0,1,1e13,3\n",
       "walk.csv: the coordinate 1e+13 m is beyond what a recording may have: say the unit, for example "
       "--units "
       "x=mm"},
      {header + "1.5,1,2,3\n1.25,1,2,3\n",
       "walk.csv:3: expected a time that is not before the one above, 1.5 (sort the rows by time, or give "
       "each "
       "take an id in a column of its own), found 1.25"},
      {turned + "a,0,1,2,3,1,1,0,0\n",
       "walk.csv:2: expected a unit quaternion, found a quaternion of length 1.414214"},
      {header + "0,1," + std::string(60, 'x') + ",3\n",
       "walk.csv:2: expected a number in 'y', found '" + std::string(40, 'x') + "...'"},
  };
  for (const auto& bad : cases)
    EXPECT_EQ(recording_error_of(bad.text), bad.message) << bad.text;
}

TEST(Recording, LeavesOutWhatIsMissingAndSaysSo) {
  const struct {
    std::string rows;
    std::size_t samples;
    std::string remark;
  } cases[] = {
      {"0,1,2,3\n1,1,nan,3\n2,1,2,3\n", 2, "left out: 1 sample without a position, a time or an orientation"},
      {"0,1,2,3\n# c\n0,1,2,3\n1,1,2,3\n", 2, "left out: 1 sample with the time of another"},
      {"0,1,2,3\n1,1,2,3\n2,1", 2, "left out: the last row, which is incomplete"},
  };
  for (const auto& one : cases) {
    const auto recording = read_recording("t,x,y,z\n" + one.rows, "w");
    ASSERT_TRUE(recording) << recording.error();
    ASSERT_EQ(recording->entities.size(), 1u);
    EXPECT_EQ(recording->entities[0].samples.size(), one.samples) << one.rows;
    ASSERT_EQ(recording->remarks.size(), 2u);
    EXPECT_EQ(recording->remarks[1], one.remark);
  }
}

TEST(Recording, MissingFileIsNamedInTheError) {
  const auto missing = load_trace("no_such_folder/no_such_trace.csv");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), "no_such_folder/no_such_trace.csv: cannot be read: No such file or directory");
  EXPECT_FALSE(load_trace(testing::TempDir()));
}

TEST(Recording, LoadsAFile) {
  const std::string path = testing::TempDir() + "reckoner_recording_test.csv";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_GE(std::fputs(kValid, file), 0);
  ASSERT_EQ(std::fclose(file), 0);
  const auto source = load_trace(path);
  std::remove(path.c_str());
  ASSERT_TRUE(source) << source.error();
  EXPECT_EQ((*source)->size(), 2u);
}

// A small fuzz run: a damaged text is refused with a line number, or it gives finite poses.
TEST(Recording, HandlesDamagedText) {
  Random random(5);
  const std::string valid = kValid;
  int refused = 0;
  for (int run = 0; run < 20'000; ++run) {
    std::string text = valid;
    for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, 1 + random.below(20));
          break;
        case 2:
          text.insert(at, 1, "\",\n\r#-.e0"[random.below(9)]);
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), 30));
          break;
      }
      if (text.empty()) text = "#";
    }
    const auto source = parse_trace(text, "w");
    if (!source) {
      ++refused;
      ASSERT_TRUE(source.error().starts_with("w:")) << source.error();
      ASSERT_EQ(source.error().find('\n'), std::string::npos);
      continue;
    }
    for (std::size_t i = 0; i < (*source)->size(); ++i) {
      const SourceEntity& entity = (*source)->entity(i);
      const Pose pose = (*source)->pose(i, 0.5 * (entity.first_s + entity.last_s));
      ASSERT_TRUE(is_sane(State{.position = pose.position, .orientation = pose.orientation}));
    }
  }
  EXPECT_GT(refused, 10'000);
  EXPECT_LT(refused, 19'900);
}

}  // namespace
}  // namespace reckoner::scenario
