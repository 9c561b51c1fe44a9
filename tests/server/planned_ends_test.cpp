// SPDX-License-Identifier: MIT
// The ends of short-lived entities that the game has planned.
#include "server/src/world/planned_ends.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::vector<EntityId> due(PlannedEnds& ends, double now_s) {
  std::vector<EntityId> found;
  while (const auto id = ends.next_due(now_s))
    found.push_back(*id);
  return found;
}

TEST(PlannedEnds, ComeInTheOrderOfTheirTimesAndOnce) {
  PlannedEnds ends;
  const EntityId a{1, 1}, b{2, 1}, c{3, 1};
  ends.add(2.0, a);
  ends.add(1.0, b);
  ends.add(3.0, c);
  EXPECT_TRUE(due(ends, 0.5).empty());
  EXPECT_EQ(due(ends, 2.0), (std::vector{b, a}));
  EXPECT_TRUE(due(ends, 2.5).empty());
  EXPECT_EQ(due(ends, 10.0), std::vector{c});
}

TEST(PlannedEnds, AtTheSameTimeComeInTheOrderOfTheirSpawns) {
  PlannedEnds ends;
  const EntityId a{7, 1}, b{2, 1}, c{5, 1};
  for (const EntityId id : {a, b, c})
    ends.add(1.0, id);
  EXPECT_EQ(due(ends, 1.0), (std::vector{a, b, c}));
}

TEST(PlannedEnds, AnEntityThatEndedBeforeIsNotDue) {
  PlannedEnds ends;
  const EntityId a{1, 1}, b{2, 1}, c{3, 1};
  for (const EntityId id : {a, b, c})
    ends.add(1.0, id);
  ends.remove(1.0, b);
  ends.remove(1.0, {9, 1});  // it had no planned end
  EXPECT_EQ(due(ends, 1.0), (std::vector{a, c}));
}

}  // namespace
}  // namespace reckoner::test
