// SPDX-License-Identifier: MIT
#include "net/src/link/ack_window.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(Sequence, DistanceWorksAcrossTheWrap) {
  EXPECT_EQ(sequence_distance(2, 65534), 4);
  EXPECT_EQ(sequence_distance(65534, 2), -4);
  EXPECT_EQ(sequence_distance(7, 7), 0);
}

TEST(Sequence, UnwrapFindsTheNearestValue) {
  for (const std::uint32_t reference : {0u, 5u, 65535u, 65536u, 1'000'000u, 4'294'967'290u}) {
    for (const int offset : {-30000, -1, 0, 1, 30000}) {
      const std::uint32_t expected = reference + static_cast<std::uint32_t>(offset);
      EXPECT_EQ(unwrap16(static_cast<std::uint16_t>(expected), reference), expected);
    }
  }
}

TEST(ReceivedWindow, RefusesDuplicatesAndOldDatagrams) {
  ReceivedWindow window;
  EXPECT_FALSE(window.any());
  EXPECT_TRUE(window.note(100));
  EXPECT_FALSE(window.note(100));
  EXPECT_TRUE(window.note(102));
  EXPECT_TRUE(window.note(101));
  EXPECT_FALSE(window.note(101));
  EXPECT_FALSE(window.note(100));
  EXPECT_TRUE(window.note(70));  // 32 before the newest: the last that fits
  EXPECT_FALSE(window.note(69));
}

// Compares the window with a plain set, over a shuffled stream that crosses the wrap.
TEST(ReceivedWindow, AcknowledgesExactlyTheArrivedDatagrams) {
  ReceivedWindow window;
  std::set<int> arrived;
  std::uint32_t random = 1;
  int newest = 65000;
  for (int i = 0; i < 5000; ++i) {
    random = random * 1664525u + 1013904223u;
    const int sequence = newest + static_cast<int>((random >> 16) % 45u) - 40;
    const bool fresh = !arrived.contains(sequence) && (arrived.empty() || sequence >= *arrived.rbegin() - 32);
    EXPECT_EQ(window.note(static_cast<Sequence>(sequence)), fresh);
    if (fresh) arrived.insert(sequence);
    newest = *arrived.rbegin();
    const Ack ack = window.ack();
    ASSERT_EQ(ack.newest, static_cast<Sequence>(newest));
    for (int k = 0; k < 32; ++k) {
      // Sequence numbers before the first arrival were never sent. Their bits may have any value.
      ASSERT_EQ((ack.window >> k) & 1u, arrived.contains(newest - 1 - k) ? 1u : 0u) << "bit " << k;
    }
  }
}

std::set<Sequence> settled(const SentWindow& window, bool acked) {
  std::set<Sequence> result;
  for (const auto& outcome : window.outcomes()) {
    if (outcome.acked != acked) continue;
    EXPECT_TRUE(result.insert(outcome.sequence).second) << "settled twice";
  }
  return result;
}

TEST(SentWindow, ReportsTheOutcomeOfEachDatagram) {
  SentWindow window;
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(window.send(0.1 * i), i);
  EXPECT_TRUE(window.acknowledge({36, 0b101}));
  EXPECT_EQ(settled(window, true), (std::set<Sequence>{36, 35, 33}));
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0, 1, 2, 3}));  // left the window
  EXPECT_EQ(window.in_flight(), 33u);
  window.clear_outcomes();

  EXPECT_TRUE(window.acknowledge({36, 0b1}));  // repeated acknowledgement: nothing new
  EXPECT_TRUE(window.outcomes().empty());
  EXPECT_TRUE(window.acknowledge({2, ~0u}));  // late and old: datagrams that were given up stay given up
  EXPECT_TRUE(window.outcomes().empty());
}

TEST(SentWindow, GivesUpAfterATimeout) {
  SentWindow window;
  window.send(0.0);
  window.send(0.5);
  window.expire(0.7, 0.3);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0}));
  window.clear_outcomes();
  window.expire(0.7, 0.3);
  EXPECT_TRUE(window.outcomes().empty());
  EXPECT_EQ(window.in_flight(), 1u);
}

TEST(SentWindow, ReportsALateAcknowledgementOnce) {
  SentWindow window;
  window.send(0.25);
  window.send(0.5);
  window.expire(1.0, 0.1);
  window.clear_outcomes();
  EXPECT_TRUE(window.acknowledge({1, 0b1}));
  EXPECT_TRUE(window.outcomes().empty());
  ASSERT_EQ(window.late().size(), 2u);
  EXPECT_EQ(window.late()[1].sent_s, 0.25);
  window.clear_outcomes();
  EXPECT_TRUE(window.acknowledge({1, 0b1}));
  EXPECT_TRUE(window.late().empty());
}

TEST(SentWindow, RefusesAcknowledgementsOfUnsentDatagrams) {
  SentWindow window;
  EXPECT_FALSE(window.acknowledge({0, 0}));
  window.send(0.0);
  EXPECT_FALSE(window.acknowledge({1, ~0u}));
  EXPECT_FALSE(window.acknowledge({1000, 0}));
  EXPECT_EQ(window.in_flight(), 1u);
  EXPECT_TRUE(window.acknowledge({0, 0}));
}

TEST(SentWindow, ReportsEachOutcomeOnceAcrossTheWrap) {
  SentWindow window;
  std::size_t total = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Sequence sequence = window.send(i);
    EXPECT_TRUE(i % 3 != 0 || window.acknowledge({sequence, 0x11111111u}));
    total += window.outcomes().size();
    window.clear_outcomes();
  }
  EXPECT_EQ(total + window.in_flight(), 200'000u);
}

TEST(SentWindow, OldestIsLostWhenTooManyAreInFlight) {
  SentWindow window;
  for (std::size_t i = 0; i <= SentWindow::kCapacity; ++i)
    window.send(0.0);
  EXPECT_EQ(settled(window, false), (std::set<Sequence>{0}));
  EXPECT_EQ(window.in_flight(), SentWindow::kCapacity);
}

}  // namespace
}  // namespace reckoner
