// SPDX-License-Identifier: MIT
#include "server/src/world/slot_set.hpp"

#include "scenario/builtin/random.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(SparseSlotSet, IteratesInOrder) {
  scenario::Random random{1};
  SparseSlotSet sparse;
  std::set<std::uint32_t> plain;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t slot = static_cast<std::uint32_t>(random.below(20'000));
      sparse.insert(slot);
      plain.insert(slot);
    }
    std::vector<std::uint32_t> seen;
    sparse.for_each([&](std::uint32_t slot) {
      seen.push_back(slot);
      if (!random.chance(0.25)) return;
      sparse.erase(slot);  // the callback may erase the current slot
      EXPECT_FALSE(sparse.contains(slot));
    });
    ASSERT_EQ(seen, std::vector<std::uint32_t>(plain.begin(), plain.end()));
    std::erase_if(plain, [&](std::uint32_t slot) { return !sparse.contains(slot); });
    sparse.erase(30'000);  // was never in the set
  }
  EXPECT_FALSE(plain.empty());
}

TEST(Published, ListsTheNonEmptyWords) {
  Published published;
  published.begin(1000);
  published.insert(0, 3);
  published.insert(2, 70);
  published.insert(1, 5);
  published.insert(1, 999);
  published.list_words();
  EXPECT_EQ(std::vector<std::uint32_t>(published.words().begin(), published.words().end()),
            (std::vector<std::uint32_t>{0, 1, 15}));
  EXPECT_TRUE(published.contains(2, 70));
  EXPECT_FALSE(published.contains(0, 70));
  published.begin(1000);
  EXPECT_TRUE(published.words().empty());
  EXPECT_FALSE(published.contains(0, 3));
}

}  // namespace
}  // namespace reckoner
