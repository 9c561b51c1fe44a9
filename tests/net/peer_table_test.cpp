// SPDX-License-Identifier: MIT
#include "net/src/transport/peer_table.hpp"

#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(PeerTable, IsEmptyAtFirst) {
  PeerTable<int> table(4);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find({}), nullptr);
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_FALSE(table.remove({}));
}

TEST(PeerTable, AgreesWithAMapAndNeverReusesAnId) {
  constexpr std::size_t kCapacity = 20;
  PeerTable<int> table(kCapacity);
  std::map<std::uint32_t, int> expected;
  std::set<std::uint32_t> ever;
  std::vector<PeerId> gone;
  std::uint32_t draw = 1;
  for (int step = 0; step < 20'000; ++step) {
    draw = draw * 1664525u + 1013904223u;
    const bool add = expected.empty() || (expected.size() < kCapacity && (draw >> 24) < 140);
    if (add) {
      const PeerId id = table.add(step);
      ASSERT_TRUE(id);
      ASSERT_TRUE(ever.insert(id.value).second) << "given out before";
      expected[id.value] = step;
    } else {
      auto out = expected.begin();
      std::advance(out, (draw >> 8) % expected.size());
      ASSERT_TRUE(table.remove({out->first}));
      ASSERT_FALSE(table.remove({out->first}));
      gone.push_back({out->first});
      expected.erase(out);
    }
    ASSERT_EQ(table.size(), expected.size());
    for (const auto& [id, value] : expected) {
      ASSERT_NE(table.find({id}), nullptr);
      ASSERT_EQ(*table.find({id}), value);
    }
    if (!gone.empty()) {
      ASSERT_EQ(table.find(gone[draw % gone.size()]), nullptr);
    }
  }
  std::map<std::uint32_t, int> visited;
  table.for_each([&](PeerId id, int value) { visited[id.value] = value; });
  EXPECT_EQ(visited, expected);
}

TEST(PeerTable, LongLivedPeerKeepsItsStorage) {
  PeerTable<int> table(2);
  const PeerId old = table.add(7);
  const int* const where = table.find(old);
  for (int i = 0; i < 1000; ++i) {
    const PeerId young = table.add(i);
    EXPECT_NE(young, old);
    EXPECT_EQ(*table.find(young), i);
    EXPECT_TRUE(table.remove(young));
  }
  EXPECT_EQ(table.find(old), where);
  EXPECT_EQ(*where, 7);
}

}  // namespace
}  // namespace reckoner
