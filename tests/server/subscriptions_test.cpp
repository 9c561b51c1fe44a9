// SPDX-License-Identifier: MIT
#include "server/src/session/subscriptions.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

EntityId entity(std::uint32_t slot) {
  return {slot + 1, 1};
}

std::vector<std::uint32_t> due(Subscriptions& subscriptions, Published published, Tick tick) {
  published.list_words();
  std::vector<std::uint32_t> scratch{~std::uint32_t{0}};  // the initial content must not matter
  subscriptions.note_published(published, tick, scratch);
  std::vector<std::uint32_t> slots;
  subscriptions.for_each_due([&](std::uint32_t slot, Subscriptions::Index index, Subscription& s) {
    EXPECT_EQ(&subscriptions.at(index), &s);
    EXPECT_EQ(s.id.slot(), slot);
    slots.push_back(slot);
  });
  return slots;
}

TEST(Subscriptions, PublishAtTheSubscribedLevelIsDueOnceConfirmed) {
  Subscriptions subscriptions;
  for (const std::uint32_t slot : {3u, 70u, 200u})
    subscriptions.add(entity(slot), slot == 70u ? 1 : 0);
  subscriptions.confirm(*subscriptions.find(3u), 0, 0, 1);
  subscriptions.confirm(*subscriptions.find(70u), 0, 0, 1);
  Published published;
  for (const std::uint32_t slot : {3u, 70u, 71u, 200u})
    published.insert(0, slot);
  EXPECT_EQ(due(subscriptions, published, 5), (std::vector<std::uint32_t>{3}));
  published.begin(0);
  published.insert(1, 70);
  EXPECT_EQ(due(subscriptions, published, 6), (std::vector<std::uint32_t>{3, 70}));
  EXPECT_EQ(subscriptions.find(3u)->due_since, 5u);  // due since the first publish
  EXPECT_EQ(subscriptions.find(70u)->due_since, 6u);
  subscriptions.clear_due(3);
  EXPECT_EQ(due(subscriptions, {}, 7), (std::vector<std::uint32_t>{70}));
}

TEST(Subscriptions, NewPublishIsNotARepair) {
  Subscriptions subscriptions;
  subscriptions.confirm(subscriptions.add(entity(0), 0), 0, 0, 1);
  Subscription& s = *subscriptions.find(0u);
  subscriptions.set_due(s, 9, true);
  EXPECT_TRUE(s.repair);
  Published published;
  published.insert(0, 0);
  EXPECT_EQ(due(subscriptions, published, 11).size(), 1u);
  EXPECT_FALSE(s.repair);
  EXPECT_EQ(s.due_since, 9u);
}

TEST(Subscriptions, ChangeOfLevelForgetsTheHeldMotion) {
  Subscriptions subscriptions;
  Subscription& s = subscriptions.add(entity(4), 0);
  s.sent = 17;
  subscriptions.confirm(s, 17, 0, 1);
  EXPECT_EQ(s.acknowledged, 17u);
  EXPECT_EQ(s.acknowledged_tick, 1u);
  s.sent = 19;
  Subscriptions::note_acknowledged(s, 19, 0, 3);  // sent after the first one
  EXPECT_EQ(s.acknowledged, 19u);
  EXPECT_EQ(s.acknowledged_tick, 3u);
  subscriptions.set_level(s, 2, 30);
  Subscriptions::note_acknowledged(s, 18, 0, 2);
  EXPECT_EQ(s.acknowledged, 0u);
  EXPECT_EQ(due(subscriptions, {}, 31), (std::vector<std::uint32_t>{4}));
  subscriptions.clear_due(4);
  Published published;
  published.insert(0, 4);
  EXPECT_TRUE(due(subscriptions, published, 32).empty());
}

TEST(Subscriptions, ReusesEntriesWithoutTheirSpawnNumbers) {
  Subscriptions subscriptions;
  for (std::uint32_t round = 0; round < 100; ++round) {
    Subscription& s = subscriptions.add(entity(round % 3), 0);
    EXPECT_EQ(s.spawn_number, 0u);
    s.spawn_number = round + 1;
    EXPECT_EQ(&s, &subscriptions.at(0));
    subscriptions.remove(round % 3);
    EXPECT_EQ(subscriptions.at(0).spawn_number, 0u);
    EXPECT_EQ(subscriptions.find(round % 3), nullptr);
    EXPECT_TRUE(subscriptions.slots().empty());
  }
}

}  // namespace
}  // namespace reckoner
