// SPDX-License-Identifier: MIT
// Recordings as public tools write them: each is played with the right positions, or one sentence says what
// to do, and doing it plays the file.
#include "tests/scenario/foreign_files.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario::test {
namespace {

// Compares the source with the motion from which the file was made. Times may begin at 0, and a recording may
// have been moved, so both are compared from the first sample on.
void expect_motion(const Source& source, const ForeignFile& file) {
  ASSERT_EQ(source.size(), file.entities);
  for (std::size_t k = 0; k < source.size(); ++k) {
    const SourceEntity& entity = source.entity(k);
    EXPECT_NEAR(entity.last_s - entity.first_s, (kForeignRows - 1) / file.rate_hz, 2e-3);
    glm::dvec3 offset = source.pose(0, source.entity(0).first_s).position - motion_at(0.0);
    for (int i = 0; i < kForeignRows; ++i) {
      const double time_s = i / file.rate_hz;
      const Pose pose = source.pose(k, entity.first_s + time_s);
      glm::dvec3 error = pose.position - offset - motion_at(time_s, static_cast<int>(k));
      if (file.flat) error.z = 0.0;
      ASSERT_LT(glm::length(error), file.within_m + 3e-3) << "entity " << k << ", row " << i;
      if (!file.oriented || k > 0) continue;
      const double yaw = 2.0 * std::atan2(double{pose.orientation.z}, double{pose.orientation.w});
      ASSERT_LT(std::abs(std::remainder(yaw - motion_yaw(time_s), 6.283185307179586)), 2e-3) << "row " << i;
    }
    if (file.oriented) {
      EXPECT_TRUE(entity.has_orientation);
    }
  }
}

void expect_outcome(const ForeignFile& file) {
  SCOPED_TRACE(file.kind);
  const auto source = parse_trace(file.text, "file");
  if (file.mend.empty()) {
    ASSERT_TRUE(source) << source.error();
    return expect_motion(**source, file);
  }
  ASSERT_FALSE(source);
  const std::string& sentence = source.error();
  EXPECT_TRUE(sentence.starts_with("file:")) << sentence;
  EXPECT_NE(sentence.find(file.mend), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  if (!file.mended) return;
  const auto again = parse_trace(file.text, "file", *file.mended);
  ASSERT_TRUE(again) << again.error();
  expect_motion(**again, file);
}

TEST(ForeignFiles, ArePlayedOrSayWhatToDo) {
  std::size_t all = 0;
  std::size_t played = 0;
  std::size_t no_tables = 0;
  for (const ForeignFile& file : foreign_files()) {
    expect_outcome(file);
    ++all;
    played += file.mend.empty() ? 1 : 0;
    no_tables += !file.mend.empty() && !file.mended ? 1 : 0;
  }
  EXPECT_EQ(all, 66u);
  EXPECT_EQ(played, 40u);    // as they are
  EXPECT_EQ(no_tables, 7u);  // the sentence names a program that makes a table of them
}

// Bodies beside each other, rows that alternate and times since 1970 share one clock, though all start at 0.
TEST(ForeignFiles, PlayEntitiesOfOneClockTogether) {
  std::size_t found = 0;
  for (const ForeignFile& file : foreign_files()) {
    if (file.kind != "OptiTrack Motive" && file.kind != "Unity VR log" &&
        file.kind != "Unreal log in centimetres" && file.kind != "SUMO FCD as CSV" && file.kind != "NGSIM")
      continue;
    const auto source = parse_trace(file.text, "file");
    ASSERT_TRUE(source) << source.error();
    ASSERT_EQ((*source)->size(), 2u) << file.kind;
    EXPECT_EQ((*source)->entity(1).first_s, 0.0) << file.kind;
    ++found;
  }
  EXPECT_EQ(found, 5u);
}

TEST(ForeignFiles, AreOfDifferentKinds) {
  std::set<std::string> kinds;
  for (const ForeignFile& file : foreign_files())
    EXPECT_TRUE(kinds.insert(file.kind).second) << file.kind;
}

// What was guessed is said. The project's own form needs no remark.
TEST(ForeignFiles, SayWhatWasAssumed) {
  for (const ForeignFile& file : foreign_files()) {
    if (!file.mend.empty()) continue;
    const auto source = parse_trace(file.text, "file");
    ASSERT_TRUE(source) << file.kind;
    const bool own = file.kind == "own form" || file.kind == "own form with ids and quaternions" ||
                     file.kind == "UTF-16, big end first";
    EXPECT_EQ((*source)->remarks().empty(), own) << file.kind;
    for (const std::string& remark : (*source)->remarks()) {
      EXPECT_EQ(remark.find('\n'), std::string::npos) << remark;
      if (std::getenv("RECKONER_SHOW_REMARKS") != nullptr)
        std::printf("%s: %s\n", file.kind.c_str(), remark.c_str());
    }
  }
}

}  // namespace
}  // namespace reckoner::scenario::test
