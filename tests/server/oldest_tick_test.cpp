// SPDX-License-Identifier: MIT
#include "server/src/session/oldest_tick.hpp"

#include "scenario/builtin/random.hpp"

#include <deque>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(OldestTick, IsTheMinimumOfTheQueueInAnyOrder) {
  scenario::Random random{1};
  const Tick begin = 0xffffff00u;  // it wraps
  OldestTick oldest;
  std::deque<Tick> queue;
  for (Tick i = 0; i < 20'000; ++i) {
    if (random.chance(0.5) && queue.size() < 50) {
      queue.push_back(begin + i / 20 + static_cast<Tick>(random.below(30)));
      oldest.push(queue.back());
    } else if (!queue.empty()) {
      queue.pop_front();
      oldest.pop();
    }
    std::optional<Tick> expected;
    for (const Tick tick : queue) {
      if (!expected || earlier(tick, *expected)) expected = tick;
    }
    ASSERT_EQ(oldest.get(), expected) << i;
  }
}

}  // namespace
}  // namespace reckoner
