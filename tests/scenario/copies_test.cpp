// SPDX-License-Identifier: MIT
// A large world of copies of a small recording.
#include "scenario/trace/copies.hpp"

#include "scenario/builtin/builtin.hpp"
#include "scenario/feed.hpp"
#include "scenario/trace/trace.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

// a lives from 1 s to 5 s and goes 2 m/s; b lives from 3 s to 5 s and goes 1 m/s.
std::unique_ptr<Source> recording() {
  std::string text = "id,t,x,y,z\n";
  for (int i = 0; i <= 40; ++i) {
    const double t = 1.0 + 0.1 * i;
    text += "a," + std::to_string(t) + "," + std::to_string(2.0 * t) + ",0,0\n";
    if (i >= 20) text += "b," + std::to_string(t) + "," + std::to_string(t) + ",9,0\n";
  }
  auto source = parse_trace(text, "two.csv", {});
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

std::unique_ptr<Source> copies(std::size_t count) {
  auto source = copies_of(recording(), count);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

TEST(Copies, AllExistAllTheTimeUnderNamesOfTheirOwn) {
  const auto world = copies(7);
  ASSERT_EQ(world->size(), 7u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < world->size(); ++i) {
    names.insert(world->entity(i).name);
    EXPECT_EQ(world->entity(i).first_s, 1.0);
    EXPECT_EQ(world->entity(i).last_s, 5.0);
    EXPECT_FALSE(world->entity(i).has_orientation);
  }
  EXPECT_EQ(names.size(), 7u);
}

TEST(Copies, FirstCopiesMoveLikeTheRecording) {
  const auto original = recording();
  const auto world = copies(4);
  for (double t = 1.0; t <= 4.9; t += 0.05)
    EXPECT_EQ(world->pose(0, t).position, original->pose(0, t).position) << t;
}

TEST(Copies, LaterCopiesAreAheadInTheSameLoop) {
  const auto original = recording();
  const auto world = copies(4);  // the second copy of a is half of its life ahead
  for (double t = 1.0; t < 2.95; t += 0.05)
    EXPECT_NEAR(world->pose(2, t).position.x, original->pose(0, t + 2.0).position.x, 1e-9) << t;
  for (double t = 3.05; t < 5.0; t += 0.05)
    EXPECT_NEAR(world->pose(2, t).position.x, original->pose(0, t - 2.0).position.x, 1e-9) << t;
}

TEST(Copies, TheEndOfTheLoopIsATeleportAndNothingElse) {
  const auto world = copies(8);
  for (std::size_t i = 0; i < world->size(); ++i) {
    int teleports = 0;
    for (double t = 1.0; t < 4.99; t += 0.01) {
      const double step_m = glm::distance(world->pose(i, t).position, world->pose(i, t + 0.01).position);
      const bool declared = world->teleports_within(i, t, t + 0.01);
      EXPECT_EQ(step_m > 0.1, declared) << i << " at " << t;
      teleports += declared ? 1 : 0;
    }
    // b lives half as long, so its loop ends twice as often; the very end of the run may be one of the ends.
    EXPECT_LE(teleports, i % 2 == 0 ? 1 : 2) << i;
    EXPECT_GE(teleports, i < 2 ? 0 : 1) << i;
  }
}

TEST(Copies, AFeedPlaysThem) {
  const auto world = copies(6);
  Feed feed(*world, world->start_s(), 60.0);
  const auto items = feed.next();
  EXPECT_EQ(items.size(), 6u);
  for (const FeedItem& item : items)
    EXPECT_EQ(item.kind, FeedItem::Kind::spawn);
}

TEST(Copies, EndlessSourcesAndNoCopiesAreRefused) {
  EXPECT_FALSE(copies_of(recording(), 0));
  auto crowd = make_builtin("crowd", 3, 1);
  ASSERT_TRUE(crowd);
  const auto endless = copies_of(std::move(*crowd), 10);
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().find("end"), std::string::npos) << endless.error();
}

}  // namespace
}  // namespace reckoner::scenario
