// SPDX-License-Identifier: MIT
#include "client/src/world/entity_store.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

KnownEntity make(EntityId id, std::size_t archetype) {
  return {.id = id, .info = {archetype, "x"}, .remote = RemoteEntity{Motion{}}};
}

TEST(EntityStore, FindsByIdAndBySlot) {
  EntityStore store;
  const EntityId id{8, 3};
  store.put(make(id, 2));
  ASSERT_NE(store.find(id), nullptr);
  EXPECT_EQ(store.find(id), store.at(7));
  EXPECT_EQ(store.find({8, 2}), nullptr);  // another generation
  EXPECT_EQ(store.find({}), nullptr);
  EXPECT_EQ(store.at(6), nullptr);
  EXPECT_EQ(store.at(100), nullptr);
}

TEST(EntityStore, RemembersTheArchetypeOfAnEmptiedSlot) {
  EntityStore store;
  EXPECT_FALSE(store.archetype_of(7));
  store.put(make({8, 1}, 2));
  EXPECT_EQ(store.archetype_of(7), 2u);
  EXPECT_FALSE(store.archetype_of(6));
  store.remove(7);
  EXPECT_EQ(store.at(7), nullptr);
  EXPECT_EQ(store.archetype_of(7), 2u);
  store.put(make({8, 2}, 0));
  EXPECT_EQ(store.archetype_of(7), 0u);
}

TEST(EntityStore, NewGenerationReplacesTheOldOne) {
  EntityStore store;
  store.put(make({1, 1}, 0));
  store.put(make({1, 2}, 0));
  EXPECT_EQ(store.find({1, 1}), nullptr);
  EXPECT_NE(store.find({1, 2}), nullptr);
}

TEST(EntityStore, LargeSlotNumberCostsLittleMemory) {
  EntityStore store;
  store.put(make({1u << 20, 1}, 0));  // the last slot that a server may use
  EXPECT_NE(store.at((1u << 20) - 1), nullptr);
  // A slot costs one pointer, not three kilobytes. A hostile server cannot make the client allocate much.
  static_assert(sizeof(store.slots()[0]) == sizeof(void*));
}

}  // namespace
}  // namespace reckoner
