// SPDX-License-Identifier: MIT
// Which entities of a trace are played, and when.
#include "scenario/trace/trace.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

// b moves furthest. If its teleport counted, a would move furthest.
std::string crowd() {
  std::string text = "id,t,x,y,z\n";
  for (int i = 0; i <= 20; ++i) {
    const std::string t = std::to_string(2.0 + 0.1 * i);
    text += "a," + t + "," + std::to_string(i < 10 ? 0.1 * i : 500.0 + 0.1 * i) + ",0,0\n";
    if (i >= 5) text += "b," + t + "," + std::to_string(0.4 * i * i * 0.1) + ",1,0\n";
  }
  return text + "late,9.0,0,0,0\nlate,9.5,0.5,0,0\n";
}

constexpr const char* kTakes =
    "id,t,x,y,z\n"
    "7,0,0,0,0\n7,1.5,1,0,0\n"
    "8,0,5,0,0\n8,0.5,6,0,0\n"
    "9,0.0,9,0,0\n9,2.0,8,0,0\n";

std::unique_ptr<Source> parse(const std::string& text, const TraceOptions& options) {
  auto source = parse_trace(text, "crowd.csv", options);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

std::string error_of(const TraceOptions& options) {
  const auto source = parse_trace(crowd(), "crowd.csv", options);
  return source ? "" : source.error();
}

TEST(Trace, AllEntitiesShareOneClock) {
  const auto source = parse(crowd(), {});
  ASSERT_EQ(source->size(), 3u);
  EXPECT_EQ(source->start_s(), 2.0);
  EXPECT_EQ(source->end_s(), 9.5);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(source->entity(i).offset_s, 0.0);
  EXPECT_EQ(source->entity(1).first_s, 2.5);
}

TEST(Trace, BusiestIgnoresTeleports) {
  const auto busiest = parse(crowd(), {.entity = "busiest"});
  ASSERT_EQ(busiest->size(), 1u);
  EXPECT_EQ(busiest->entity(0).name, "b");
  const auto undeclared = parse(crowd(), {.teleport_mps = 1e9, .entity = "busiest"});
  EXPECT_EQ(undeclared->entity(0).name, "a");
}

TEST(Trace, SelectsByNameAndListsTheKnownNames) {
  const auto late = parse(crowd(), {.entity = "late"});
  ASSERT_EQ(late->size(), 1u);
  EXPECT_EQ(late->start_s(), 9.0);
  EXPECT_EQ(error_of({.entity = "nobody"}),
            "crowd.csv: expected the id of an entity, \"busiest\" or \"all\", found 'nobody'; the ids are a, "
            "b, late");
  std::string many = "id,t,x,y,z\n";
  for (int i = 1; i <= 30; ++i)
    many += "n" + std::to_string(i) + ",1,0,0,0\n";
  const auto unknown = parse_trace(many, "many.csv", {.entity = "n31"});
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().ends_with("the ids are n1, n2, n3, n4, n5, n6, n7, n8, ... (30 in total)"));
}

// Entities that all start at t = 0 are successive recordings, or one in which all appear at once: the file
// does not say which, so the user decides.
TEST(Trace, TimelineDecidesWhenEntitiesArePlayed) {
  const std::string at_zero = "id,t,x,y,z\na,0,1,0,0\na,2,2,0,0\nb,0,5,0,0\nb,1,6,0,0\n";
  const auto first_s = [](const std::string& text, Timeline timeline) {
    const auto source = parse_trace(text, "x.csv", {.timeline = timeline});
    return std::pair{(*source)->entity(0).first_s, (*source)->entity(1).first_s};
  };
  EXPECT_EQ(first_s(at_zero, Timeline::automatic), std::pair(0.0, 3.0));
  EXPECT_EQ(first_s(at_zero, Timeline::successive), std::pair(0.0, 3.0));
  EXPECT_EQ(first_s(at_zero, Timeline::together), std::pair(0.0, 0.0));
  const std::string later = "id,t,x,y,z\na,0.1,1,0,0\na,2,2,0,0\nb,0.1,5,0,0\nb,1,6,0,0\n";
  EXPECT_EQ(first_s(later, Timeline::automatic), std::pair(0.1, 0.1));
  EXPECT_EQ(first_s(later, Timeline::successive), std::pair(0.1, 3.0));
}

TEST(Trace, WindowCountsFromTheEarliestSelectedSample) {
  const auto source = parse(crowd(), {.start_s = 0.75, .seconds = 1.0});
  ASSERT_EQ(source->size(), 2u);  // late is dropped
  EXPECT_DOUBLE_EQ(source->entity(0).first_s, 2.75);
  EXPECT_DOUBLE_EQ(source->entity(0).last_s, 3.75);
  const auto b = parse(crowd(), {.entity = "b", .start_s = 0.25});
  EXPECT_DOUBLE_EQ(b->start_s(), 2.75);  // b begins at 2.5
  EXPECT_DOUBLE_EQ(b->end_s(), 4.0);
  const auto whole = parse(crowd(), {.seconds = 1000.0});
  EXPECT_EQ(whole->end_s(), 9.5);
}

TEST(Trace, WindowDoesNotChangeTheCurve) {
  const auto whole = parse(crowd(), {});
  const auto cut = parse(crowd(), {.start_s = 0.53, .seconds = 0.9});
  for (std::size_t i = 0; i < cut->size(); ++i) {
    for (double t = cut->entity(i).first_s; t <= cut->entity(i).last_s; t += 0.007) {
      const Pose a = whole->pose(i, t);
      const Pose b = cut->pose(i, t);
      EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << t;
    }
  }
}

TEST(Trace, RefusesAnEmptyWindowAndImpossibleOptions) {
  EXPECT_EQ(
      error_of({.start_s = 20.0}),
      "crowd.csv: no samples between 22.000000 s and 9.500000 s; the selected samples are between 2.000000 s "
      "and 9.500000 s");
  EXPECT_NE(error_of({.start_s = 3.0, .seconds = 1.0}), "");
  EXPECT_EQ(error_of({.start_s = -1.0}), "the start must be at least 0 s");
  EXPECT_EQ(error_of({.seconds = -1.0}), "the length must be at least 0 s (0: to the end)");
  EXPECT_EQ(error_of({.teleport_mps = 0.0}), "the teleport speed must be above 0 m/s");
}

TEST(Trace, TakesThatAllStartAtZeroPlayInTurn) {
  const auto source = parse(kTakes, {});
  ASSERT_EQ(source->size(), 3u);
  EXPECT_EQ(source->entity(0).offset_s, 0.0);
  EXPECT_EQ(source->entity(1).offset_s, 2.5);  // 1.5 + 1
  EXPECT_EQ(source->entity(2).offset_s, 4.0);  // 2.5 + 0.5 + 1
  EXPECT_EQ(source->entity(1).first_s, 2.5);
  EXPECT_EQ(source->entity(1).last_s, 3.0);
  EXPECT_EQ(source->end_s(), 6.0);
  EXPECT_EQ(source->pose(2, 4.0).position.x, 9.0);
  EXPECT_EQ(source->pose(2, 6.0).position.x, 8.0);
}

TEST(Trace, OneTakeAloneKeepsItsOwnClock) {
  const auto named = parse(kTakes, {.entity = "9"});
  EXPECT_EQ(named->entity(0).offset_s, 0.0);
  EXPECT_EQ(named->start_s(), 0.0);
  const auto busiest = parse(kTakes, {.entity = "busiest"});
  EXPECT_EQ(busiest->size(), 1u);
  EXPECT_EQ(busiest->start_s(), 0.0);
}

TEST(Trace, WindowOfTakesInTurnIsOnTheSharedClock) {
  const auto source = parse(kTakes, {.start_s = 2.75, .seconds = 2.0});
  ASSERT_EQ(source->size(), 2u);
  EXPECT_EQ(source->entity(0).name, "8");
  EXPECT_EQ(source->entity(0).first_s, 2.75);
  EXPECT_EQ(source->entity(0).offset_s, 2.5);
  EXPECT_EQ(source->entity(1).last_s, 4.75);
}

// Samples of two entities, 20 a second, at this place.
std::string at(double x, double y, int samples = 40) {
  std::string text = "id,t,x,y,z\n";
  for (int i = 0; i < samples; ++i) {
    for (const char* id : {"a", "b"}) {
      char row[120];
      std::snprintf(row, sizeof row, "%s,%.3f,%.3f,%.3f,0\n", id, 0.05 * i + 1.0, x + 0.1 * i, y);
      text += row;
    }
  }
  return text;
}

TEST(Trace, BeyondTheWorldIsMovedToTheOriginAndSaid) {
  const auto near = parse(at(99'000.0, -99'999.0), {});
  EXPECT_TRUE(near->remarks().empty());
  EXPECT_EQ(near->pose(0, 1.0).position, glm::dvec3(99'000.0, -99'999.0, 0.0));
  const auto far = parse(at(500'000.0, 5'000'000.25), {});
  ASSERT_EQ(far->remarks().size(), 1u);
  EXPECT_EQ(
      far->remarks()[0],
      "entity 'a' is at y = 5000000 m at t = 1 s, beyond the world's 100000 m; the recording was moved by "
      "(-500002, -5000000, 0) m, so that its middle is at the origin (--recentre never: not)");
  EXPECT_EQ(far->pose(0, 1.0).position, glm::dvec3(-2.0, 0.25, 0.0));
  const auto kept = parse(at(500'000.0, 5'000'000.25), {.recentre = Recentre::never});
  EXPECT_EQ(kept->pose(0, 1.0).position, glm::dvec3(500'000.0, 5'000'000.25, 0.0));
  EXPECT_TRUE(kept->remarks().empty());
  const auto always = parse(at(10.0, 20.0), {.recentre = Recentre::always});
  EXPECT_EQ(always->pose(0, 1.0).position, glm::dvec3(-2.0, 0.0, 0.0));
  EXPECT_EQ(always->remarks().size(), 1u);
}

TEST(Trace, ARecordingLargerThanTheWorldIsRefused) {
  const auto source = parse_trace(at(0.0, 0.0) + "c,1.5,3000000,0,0\nc,1.6,3000000,0,0\n", "w");
  ASSERT_FALSE(source);
  EXPECT_NE(
      source.error().find("w: entity 'c' is at x = 2999998 m at t = 1.5 s from the middle of the recording"),
      std::string::npos)
      << source.error();
}

TEST(Trace, SaysFirstWhatCannotBeMeasured) {
  const auto one = parse("t,x,y,z\n0,1,2,3\n", {});
  ASSERT_EQ(one->remarks().size(), 1u);
  EXPECT_EQ(one->remarks()[0], "every entity has one sample only, so nothing moves and nothing is measured");
  const auto some = parse(at(0.0, 0.0) + "c,1.5,0,0,0\n", {});
  ASSERT_EQ(some->remarks().size(), 1u);
  EXPECT_EQ(some->remarks()[0], "1 of 3 entities have one sample only and are not shown: 'c'");
  const std::string slow = "t;x;y\n0;0;0\n1;1;0\n2;2;0\n";
  const auto gaps = parse(slow, {});
  ASSERT_EQ(gaps->remarks().size(), 2u);
  EXPECT_EQ(
      gaps->remarks()[0],
      "there are 1 samples a second, 1 s apart; nothing is measured between samples that are more than "
      "0.25 s apart, which is 100 % of the time: record at least 4 samples a second, or add --longest-gap "
      "1.5");
  EXPECT_TRUE(gaps->in_gap(0, 0.5));
  const auto bridged = parse(slow, {.gap_s = 1.5});
  EXPECT_EQ(bridged->remarks().size(), 1u);
  EXPECT_FALSE(bridged->in_gap(0, 0.5));
}

TEST(Trace, LongNamesAreShortenedAndKeptApart) {
  const std::string name(80, 'n');
  const auto source = parse("id,t,x,y,z\n" + name + "1,1,0,0,0\n" + name + "1,2,0,0,0\n" + name +
                                "2,1,0,0,0\n" + name + "2,2,0,0,0\n",
                            {.gap_s = 2.0});
  ASSERT_EQ(source->size(), 2u);
  EXPECT_EQ(source->entity(0).name, std::string(62, 'n') + "~1");
  EXPECT_EQ(source->entity(1).name, std::string(62, 'n') + "~2");
  ASSERT_EQ(source->remarks().size(), 1u);
  EXPECT_EQ(source->remarks()[0], "names of entities that are longer than 64 bytes were shortened");
}

TEST(Trace, ReadsTheColumnsAndUnitsThatTheOptionsName) {
  const std::string text = "a b c d\n0 7 100 5\n500 7 200 5\n1000 7 300 5\n";
  const auto source =
      parse(text, {.table = {.columns = "t=a,x=3,y=d,id=2", .units = "t=ms,x=cm"}, .gap_s = 1.0});
  ASSERT_EQ(source->size(), 1u);
  EXPECT_EQ(source->entity(0).name, "7");
  EXPECT_EQ(source->pose(0, 1.0).position, glm::dvec3(3.0, 0.05, 0.0));
  const struct {
    TableOptions table;
    std::string sentence;
  } wrong[] = {
      {{.columns = "t=1,x=9,y=4"},
       "columns: there is no column '9'; this file has 4: 1 'a', 2 'b', 3 'c', 4 'd'"},
      {{.columns = "time"}, "columns: expected t, id, x,"},
      {{.columns = "t=1,x=3,y=4", .units = "t=parsec"}, "units: expected t=s, ms,"},
      {{.columns = "t=1,x=3,y=4", .units = "t=0fps"}, "units: expected t=s, ms,"},
  };
  for (const auto& one : wrong) {
    const auto refused = parse_trace(text, "w", {.table = one.table});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().find(one.sentence), std::string::npos) << refused.error();
  }
}

TEST(Trace, EntitiesThatDoNotAllStartAtZeroPlayTogether) {
  const auto source = parse("id,t,x,y,z\na,0,0,0,0\na,1,1,0,0\nb,0.5,0,0,0\nb,1.5,0,0,0\n", {});
  EXPECT_EQ(source->entity(1).offset_s, 0.0);
  EXPECT_EQ(source->end_s(), 1.5);
}

}  // namespace
}  // namespace reckoner::scenario
