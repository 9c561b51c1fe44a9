// SPDX-License-Identifier: MIT
#include "server/src/prediction/game_states.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(GameStates, KeepNothingOfEntitiesThatHaveEnded) {
  GameStates states;
  const std::array bytes{std::byte{1}, std::byte{2}};
  for (std::uint16_t generation = 0; generation < 1000; ++generation) {
    const EntityId id{5, generation};
    EXPECT_TRUE(states.of(id).empty());
    states.set(id, bytes);
    EXPECT_TRUE(std::ranges::equal(states.of(id), bytes));
  }
  EXPECT_EQ(states.size(), 1u);
  EXPECT_TRUE(states.of({5, 998}).empty());
}

}  // namespace
}  // namespace reckoner
