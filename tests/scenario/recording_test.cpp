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
      {"",
       "walk.csv:1: expected a header id,t,x,y,z or id,t,x,y,z,qw,qx,qy,qz (id is optional), found the "
       "end of the file"},
      {"# only this\n",
       "walk.csv:2: expected a header id,t,x,y,z or id,t,x,y,z,qw,qx,qy,qz (id is optional), "
       "found the end of the file"},
      {"t,x,y\n0,1,2\n",
       "walk.csv:1: expected a header id,t,x,y,z or id,t,x,y,z,qw,qx,qy,qz (id is optional), found "
       "'t,x,y'"},
      {"# c\n" + header, "walk.csv:2: expected at least one row of samples, found none"},
      {header + "0,1,2\n", "walk.csv:2: expected 4 fields, found 3"},
      {header + "0,1,2,3,4\n", "walk.csv:2: expected 4 fields, found 5"},
      {header + "0,1,2,3\n\n1,1,2,3\n", "walk.csv:3: expected 4 fields, found an empty line"},
      {header + "0,1,two,3\n", "walk.csv:2: expected a finite number, found 'two'"},
      {header + "0,1,,3\n", "walk.csv:2: expected a finite number, found ''"},
      {header + "0,1, 2,3\n", "walk.csv:2: expected a finite number, found ' 2'"},
      {header + "0,1,2m,3\n", "walk.csv:2: expected a finite number, found '2m'"},
      {header + "0,1,nan,3\n", "walk.csv:2: expected a finite number, found 'nan'"},
      {header + "0,1,-inf,3\n", "walk.csv:2: expected a finite number, found '-inf'"},
      {header + "0,1,1e999,3\n", "walk.csv:2: expected a finite number, found '1e999'"},
      {header + "0,1,1e13,3\n", "walk.csv:2: expected a finite number, found '1e13'"},
      {header + "0,1,2,3\n# c\n0,1,2,3\n",
       "walk.csv:4: expected a time later than the previous one of this id, 0.000000, found '0'"},
      {header + "1.5,1,2,3\n1.25,1,2,3\n",
       "walk.csv:3: expected a time later than the previous one of this id, 1.500000, found '1.25'"},
      {turned + "a,0,1,2,3,0,0,0,0\n",
       "walk.csv:2: expected a unit quaternion, found a quaternion of length 0.000000"},
      {turned + "a,0,1,2,3,1,1,0,0\n",
       "walk.csv:2: expected a unit quaternion, found a quaternion of length 1.414214"},
      {turned + "\"a,0,1,2,3,1,0,0,0\n",
       "walk.csv:2: expected a field with matching quotes, found unmatched quotes"},
      {header + "0,1," + std::string(60, 'x') + ",3\n",
       "walk.csv:2: expected a finite number, found '" + std::string(40, 'x') + "...'"},
  };
  for (const auto& bad : cases)
    EXPECT_EQ(recording_error_of(bad.text), bad.message) << bad.text;
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
