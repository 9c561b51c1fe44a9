// SPDX-License-Identifier: MIT
#include "server/src/world/entity_table.hpp"

#include "server/src/publish/publisher.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr Tick kQuarantine = 300;

Entity make() {
  static const ServerConfig config;
  static const std::vector<Quantisation> quantisation{quantisation_for(config.archetypes[0])};
  return Publisher{config, quantisation, 1}.make_entity(0, "", State{}, 0);
}

TEST(EntityTable, FindsAnEntityUntilItIsRemoved) {
  EntityTable table(4, kQuarantine);
  const EntityId a = table.add(make(), 0);
  const EntityId b = table.add(make(), 0);
  ASSERT_TRUE(a && b);
  EXPECT_NE(a, b);
  EXPECT_EQ(table.find(a)->id, a);
  EXPECT_EQ(table.find(b)->id, b);
  EXPECT_EQ(table.size(), 2u);
  table.remove(a, 10);
  EXPECT_EQ(table.find(a), nullptr);
  EXPECT_EQ(table.find(b)->id, b);
  EXPECT_EQ(table.size(), 1u);
  table.remove(a, 11);  // removing it again has no effect
  EXPECT_EQ(table.size(), 1u);
}

TEST(EntityTable, DoesNotFindNullOrUnknownIds) {
  EntityTable table(4, kQuarantine);
  const EntityId a = table.add(make(), 0);
  EXPECT_EQ(table.find({}), nullptr);
  EXPECT_EQ(table.find({a.index1 + 1, 1}), nullptr);
  EXPECT_EQ(table.find({a.index1, static_cast<std::uint16_t>(a.generation + 1)}), nullptr);
}

TEST(EntityTable, HoldsNoMoreThanItsLimit) {
  EntityTable table(3, kQuarantine);
  std::vector<EntityId> ids;
  for (int i = 0; i < 3; ++i)
    ids.push_back(table.add(make(), 0));
  EXPECT_FALSE(table.add(make(), 0));
  table.remove(ids[1], 0);
  EXPECT_TRUE(table.add(make(), 0));
  EXPECT_FALSE(table.add(make(), 0));
}

TEST(EntityTable, ReusesASlotOnlyAfterTheQuarantine) {
  EntityTable table(10, kQuarantine);
  const EntityId first = table.add(make(), 0);
  table.remove(first, 100);
  const EntityId early = table.add(make(), 100 + kQuarantine - 1);
  EXPECT_NE(early.slot(), first.slot());
  const EntityId late = table.add(make(), 100 + kQuarantine);
  EXPECT_EQ(late.slot(), first.slot());
  EXPECT_NE(late, first);
  EXPECT_EQ(table.find(first), nullptr);
}

TEST(EntityTable, QuarantineWorksWhenTheTickWraps) {
  EntityTable table(10, kQuarantine);
  const EntityId first = table.add(make(), 0);
  const Tick removed = 0u - 10u;
  table.remove(first, removed);
  EXPECT_NE(table.add(make(), removed + kQuarantine - 1).slot(), first.slot());
  EXPECT_EQ(table.add(make(), removed + kQuarantine).slot(), first.slot());
}

TEST(EntityTable, NeverReusesAnId) {
  EntityTable table(8, 5);
  std::set<EntityId> seen;
  std::vector<EntityId> alive;
  for (Tick tick = 0; tick < 5000; ++tick) {
    if (alive.size() == 8 || (tick % 3 == 0 && !alive.empty())) {
      table.remove(alive.front(), tick);
      alive.erase(alive.begin());
    } else {
      const EntityId id = table.add(make(), tick);
      ASSERT_TRUE(id);
      EXPECT_TRUE(seen.insert(id).second);
      alive.push_back(id);
    }
  }
  EXPECT_LT(table.slots().size(), 20u);  // slots are reused, they do not pile up
}

}  // namespace
}  // namespace reckoner
