// SPDX-License-Identifier: MIT
#include "net/src/link/baselines.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

QuantisedState marked(std::int64_t mark) {
  QuantisedState state;
  state.position[0] = mark;
  return state;
}

TEST(References, FindsMotionsByLevelAndTick) {
  References references({1, 1});
  references.note(0, 10, marked(1));
  references.note(2, 10, marked(2));
  references.note(0, 12, marked(3));
  ASSERT_NE(references.find(0, 10), nullptr);
  EXPECT_EQ(references.find(0, 10)->position[0], 1);
  EXPECT_EQ(references.find(2, 10)->position[0], 2);
  EXPECT_EQ(references.find(0, 12)->position[0], 3);
  EXPECT_EQ(references.find(1, 10), nullptr);
  EXPECT_EQ(references.find(0, 11), nullptr);
  EXPECT_EQ(references.find(200, 10), nullptr);  // an unknown level
}

TEST(References, RepeatedMotionChangesNothing) {
  References references({1, 1});
  references.note(0, 10, marked(1));
  references.note(0, 10, marked(9));
  EXPECT_EQ(references.find(0, 10)->position[0], 1);
}

// For any order of arrival, and across the wrap of ticks, the newest kHistory motions are kept.
TEST(References, KeepsTheNewestByTick) {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    References references({1, 1});
    std::map<std::int32_t, std::int64_t> all;  // by distance from the wrap
    for (int i = 0; i < 100; ++i) {
      const auto at = static_cast<std::int32_t>(random() % 400) - 200;
      if (!all.emplace(at, i).second) continue;
      references.note(1, static_cast<Tick>(at), marked(i));
    }
    std::size_t rank = 0;
    for (auto it = all.rbegin(); it != all.rend() && rank < References::kHistory; ++it, ++rank) {
      const QuantisedState* found = references.find(1, static_cast<Tick>(it->first));
      ASSERT_NE(found, nullptr) << rank;
      EXPECT_EQ(found->position[0], it->second);
    }
  }
}

}  // namespace
}  // namespace reckoner
