// SPDX-License-Identifier: MIT
#include "net/src/transport/event_queue.hpp"

#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

TEST(EventQueue, IsFirstInFirstOut) {
  std::mt19937 random(1);
  EventQueue queue;
  std::deque<Bytes> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    // The queue fills and empties in turn, often completely.
    if (random() % 100 < (i / 500 % 2 == 0 ? 70u : 30u)) {
      Bytes payload(random() % 50);
      for (std::byte& byte : payload)
        byte = static_cast<std::byte>(random());
      queue.push({.peer = {i}, .payload = payload});
      expected.push_back(payload);
    } else if (const auto event = queue.pop()) {
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(Bytes(event->payload.begin(), event->payload.end()), expected.front());
      expected.pop_front();
    } else {
      ASSERT_TRUE(expected.empty());
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(EventQueue, KeepsAPayloadUntilTheNextCall) {
  EventQueue queue;
  const Bytes first(3, std::byte{1}), second(2, std::byte{2});
  queue.push({.payload = first});
  queue.push({.payload = second});
  (void)queue.pop();
  const auto last = queue.pop();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(Bytes(last->payload.begin(), last->payload.end()), second);
  EXPECT_FALSE(queue.pop());
}

// A game may leave the newest event unpolled forever.
TEST(EventQueue, MemoryStaysBoundedIfTheNewestIsNeverPolled) {
  EventQueue queue;
  const Bytes payload(1000, std::byte{3});
  queue.push({.peer = {0}, .payload = payload});
  for (std::uint32_t i = 1; i < 200'000; ++i) {
    queue.push({.peer = {i}, .payload = payload});
    const auto event = queue.pop();
    ASSERT_TRUE(event);
    ASSERT_EQ(event->peer, PeerId{i - 1});
    ASSERT_EQ(queue.bytes(), payload.size());
  }
  EXPECT_LT(queue.capacity(), 4u * 1024 * 1024);
}

TEST(EventQueue, WorksAfterAFlood) {
  EventQueue queue;
  const Bytes large(32'000, std::byte{7});
  for (int i = 0; i < 100; ++i)
    queue.push({.payload = large});
  while (queue.pop()) {
  }
  queue.push({.peer = {9}, .payload = std::span(large).first(5)});
  const auto event = queue.pop();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->peer, PeerId{9});
  EXPECT_EQ(event->payload.size(), 5u);
}

}  // namespace
}  // namespace reckoner
