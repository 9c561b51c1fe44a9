// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_queue.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

ReliableQueue retaining(const ReliableQueue::Limits& limits = {}) {
  ReliableQueue queue{limits};
  queue.retain();
  return queue;
}

// Compares the queue with the simplest possible implementation.
TEST(ReliableQueue, RetainsUnconfirmedMessagesInOrder) {
  ReliableQueue queue = retaining();
  std::deque<Bytes> model;
  std::uint32_t confirmed = 0;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t random = scenario::hash(7, step);
    if (random % 3 != 0) {
      const Bytes message(random / 8 % 300, static_cast<std::byte>(random >> 20));
      const std::uint32_t number = queue.add_sent(message);
      model.push_back(message);
      ASSERT_EQ(number, confirmed + model.size());
    } else {
      const auto count = static_cast<std::uint32_t>(random / 8 % (model.size() + 1));
      ASSERT_TRUE(queue.confirm(confirmed += count));
      model.erase(model.begin(), model.begin() + count);
    }
    ASSERT_EQ(queue.retained_messages(), model.size());
    ASSERT_EQ(queue.unconfirmed_count(), model.size());
    if (step % 64 != 0) continue;
    EXPECT_FALSE(queue.next()) << "every message was sent";
    queue.resend_all();
    std::size_t next = 0, bytes = 0;
    for (; const auto message = queue.next(); queue.mark_sent()) {
      ASSERT_LT(next, model.size());
      EXPECT_TRUE(std::equal(message->begin(), message->end(), model[next].begin(), model[next].end()));
      bytes += message->size();
      ++next;
    }
    EXPECT_EQ(next, model.size());
    EXPECT_EQ(queue.retained_bytes(), bytes);
  }
}

// Each message is sent once over every connection, in order, for any order of confirmations.
TEST(ReliableQueue, SendsWaitingMessagesOnceAConnection) {
  // At most 7 messages, or 150 bytes, are in flight.
  ReliableQueue queue = retaining({.in_flight = {7, 150}, .game = {}, .retained = {}});
  std::uint32_t added = 0, confirmed = 0, sent = 0;  // numbers since the beginning
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t random = scenario::hash(8, step);
    std::size_t bytes = 0;  // in flight
    for (std::uint32_t i = confirmed; i < sent; ++i)
      bytes += 1 + i % 40;
    switch (random % 8) {
      case 0:
        confirmed += static_cast<std::uint32_t>(random / 8 % (added - confirmed + 1));
        ASSERT_TRUE(queue.confirm(confirmed));
        sent = std::max(sent, confirmed);
        break;
      case 1:
        if (random / 8 % 50 == 0) queue.resend_all(), sent = confirmed;
        break;
      case 2:
      case 3:
      case 4: {
        const Bytes message(1 + added % 40, static_cast<std::byte>(added));
        queue.add_waiting(message);
        ++added;
        break;
      }
      default:
        const auto next = queue.next();
        ASSERT_EQ(next.has_value(), sent < added);
        if (!next) break;
        EXPECT_EQ(next->size(), 1 + sent % 40);
        EXPECT_EQ(next->front(), static_cast<std::byte>(sent));
        ASSERT_EQ(queue.has_room_in_flight(next->size()),
                  sent - confirmed < 7 && bytes + next->size() <= 150);
        queue.mark_sent();
        ++sent;
    }
  }
  EXPECT_GT(confirmed, 5'000u);
}

TEST(ReliableQueue, RefusesImpossibleConfirmations) {
  ReliableQueue queue = retaining();
  const Bytes message(3);
  for (int i = 0; i < 5; ++i)
    queue.add_sent(message);
  EXPECT_FALSE(queue.confirm(6));
  EXPECT_TRUE(queue.confirm(2));
  EXPECT_FALSE(queue.confirm(1)) << "two messages were confirmed before";
  EXPECT_FALSE(queue.confirm(0xffffffffu));
  EXPECT_EQ(queue.retained_messages(), 3u);
  EXPECT_TRUE(queue.is_confirmed(2));
  EXPECT_FALSE(queue.is_confirmed(3));
}

TEST(ReliableQueue, LimitsUnconfirmedGameMessages) {
  ReliableQueue queue{{.in_flight = {}, .game = {3, 100}, .retained = {}}};
  const Bytes message(40);
  for (int i = 0; i < 10; ++i)
    queue.add_sent(message);
  EXPECT_TRUE(queue.has_room_for_game(100)) << "the library's own messages do not count";
  queue.add_sent(message, ReliableQueue::Origin::game);
  queue.add_sent(message, ReliableQueue::Origin::game);
  EXPECT_FALSE(queue.has_room_for_game(21));
  EXPECT_TRUE(queue.has_room_for_game(20));
  queue.add_sent({}, ReliableQueue::Origin::game);
  EXPECT_FALSE(queue.has_room_for_game(1));
  ASSERT_TRUE(queue.confirm(10));
  EXPECT_FALSE(queue.has_room_for_game(1));
  ASSERT_TRUE(queue.confirm(11));
  EXPECT_TRUE(queue.has_room_for_game(60));
  EXPECT_FALSE(queue.has_room_for_game(61));
}

TEST(ReliableQueue, RetainsNothingUnlessAsked) {
  ReliableQueue queue{{}};
  queue.add_sent(Bytes(40));
  EXPECT_EQ(queue.retained_messages(), 0u);
  EXPECT_FALSE(queue.next());
  EXPECT_FALSE(queue.can_resume_from(0));
  EXPECT_EQ(queue.unconfirmed_count(), 1u);
  EXPECT_TRUE(queue.confirm(1));
}

// A peer that confirms nothing costs a bounded amount of memory. After it has confirmed every message, its
// session can resume again.
TEST(ReliableQueue, CannotResumeAfterAnOverflowUntilAllIsConfirmed) {
  constexpr std::size_t kMaxBytes = 1024 * 1024;
  ReliableQueue queue = retaining({.in_flight = {}, .game = {}, .retained = {8192, kMaxBytes}});
  const Bytes message(30'000);
  std::uint32_t sent = 0;
  for (; sent < 200; ++sent) {
    queue.add_sent(message);
    EXPECT_LE(queue.retained_bytes(), kMaxBytes);
  }
  EXPECT_FALSE(queue.can_resume_from(0));
  EXPECT_EQ(queue.retained_bytes(), 0u) << "half of the messages are of no use";
  ASSERT_TRUE(queue.confirm(150));
  EXPECT_FALSE(queue.can_resume_from(150));
  ASSERT_TRUE(queue.confirm(sent));
  EXPECT_TRUE(queue.can_resume_from(sent));
  queue.add_sent(message);
  EXPECT_TRUE(queue.can_resume_from(sent));
  EXPECT_TRUE(queue.can_resume_from(sent + 1));
  EXPECT_FALSE(queue.can_resume_from(sent - 1)) << "those messages are gone";
  EXPECT_FALSE(queue.can_resume_from(sent + 2)) << "never sent";
  EXPECT_EQ(queue.retained_messages(), 1u);
  ASSERT_TRUE(queue.confirm(sent + 1));
  EXPECT_EQ(queue.retained_messages(), 0u);
}

TEST(ReliableQueue, ReportIsDueAfterEnoughMessagesOrBytes) {
  ReliableQueue queue{{}};
  for (std::size_t i = 1; i < ReliableQueue::kReportEvery.messages; ++i)
    queue.note_received(10);
  EXPECT_FALSE(queue.is_report_due());
  queue.note_received(10);
  EXPECT_TRUE(queue.is_report_due());
  EXPECT_EQ(queue.report(), 32u);
  EXPECT_FALSE(queue.is_report_due());
  queue.note_received(ReliableQueue::kReportEvery.bytes - 1);
  EXPECT_FALSE(queue.is_report_due());
  queue.note_received(1);
  EXPECT_TRUE(queue.is_report_due());
  EXPECT_EQ(queue.report(), 34u);
  EXPECT_EQ(queue.received_count(), 34u);
}

}  // namespace
}  // namespace reckoner
