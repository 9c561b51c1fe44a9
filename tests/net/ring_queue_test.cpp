// SPDX-License-Identifier: MIT
#include "net/src/link/ring_queue.hpp"

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(RingQueue, HasTheElementsOfADeque) {
  std::mt19937 random(1);
  RingQueue<int> queue;
  std::deque<int> expected;
  for (int i = 0; i < 20'000; ++i) {
    const bool grows = i / 1000 % 2 == 0;
    switch (random() % (grows ? 5 : 3)) {
      case 0:
        if (expected.empty()) break;
        queue.pop_front();
        expected.pop_front();
        break;
      case 1:
        if (expected.empty()) break;
        queue.pop_back();
        expected.pop_back();
        break;
      default:
        queue.push_back(i);
        expected.push_back(i);
    }
    if (i % 500 == 499) {
      const auto is_odd = [](int element) { return element % 2 != 0; };
      ASSERT_EQ(queue.erase_if(is_odd), std::erase_if(expected, is_odd));
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(queue.front(), expected.front());
    ASSERT_EQ(queue.back(), expected.back());
    std::size_t at = 0;
    for (const int element : queue)
      ASSERT_EQ(element, expected[at++]);
    ASSERT_EQ(at, expected.size());
  }
}

TEST(RingQueue, FreesWhatARemovedElementOwns) {
  RingQueue<std::shared_ptr<int>> queue;
  const auto owned = std::make_shared<int>(1);
  for (int i = 0; i < 3; ++i)
    queue.push_back(owned);
  queue.pop_front();
  queue.pop_back();
  EXPECT_EQ(owned.use_count(), 2);
  queue.clear();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(RingQueue, IsEmptyAfterItsElementsWereMovedAway) {
  RingQueue<int> from;
  for (int i = 0; i < 5; ++i)
    from.push_back(i);
  RingQueue<int> to = std::move(from);
  EXPECT_EQ(to.size(), 5u);
  EXPECT_EQ(to.back(), 4);
  EXPECT_TRUE(from.empty());
  from.push_back(7);
  EXPECT_EQ(from.front(), 7);
  to = std::move(from);
  EXPECT_EQ(to.size(), 1u);
  EXPECT_EQ(to.front(), 7);
  from.push_back(8);
  EXPECT_EQ(from.front(), 8);
}

// An empty queue that was short does not allocate for the next element, and one that was long gives its
// memory back.
TEST(RingQueue, KeepsOnlyALittleMemory) {
  RingQueue<int> queue;
  EXPECT_TRUE(queue.full());
  queue.push_back(1);
  queue.clear();
  EXPECT_FALSE(queue.full());
  for (int i = 0; i < 1000; ++i)
    queue.push_back(i);
  queue.clear();
  EXPECT_TRUE(queue.full());
}

}  // namespace
}  // namespace reckoner
