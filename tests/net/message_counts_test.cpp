// SPDX-License-Identifier: MIT
#include "net/src/link/message_counts.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using Origin = MessageCounts::Origin;

// Compares the counts with the simplest possible implementation.
TEST(MessageCounts, KeepToTheLimitsForAnyOrderOfConfirmations) {
  const MessageCounts::Limits limits{.window = {7, 900}, .game = {20, 3000}};
  MessageCounts counts{limits};
  std::deque<std::pair<std::size_t, Origin>> model;  // unconfirmed
  std::uint32_t confirmed = 0;
  for (std::uint64_t step = 0; step < 50'000; ++step) {
    const std::uint64_t random = scenario::hash(7, step);
    std::size_t game_messages = 0, game_bytes = 0;
    for (const auto& [bytes, origin] : model) {
      if (origin == Origin::library) continue;
      ++game_messages;
      game_bytes += bytes;
    }
    ASSERT_EQ(counts.game().messages, game_messages);
    ASSERT_EQ(counts.game().bytes, game_bytes);
    if (random % 3 != 0) {
      const std::size_t bytes = 1 + random / 8 % 300;
      const Origin origin = random / 4096 % 4 == 0 ? Origin::library : Origin::game;
      const bool fits = game_messages < limits.game.messages && game_bytes + bytes <= limits.game.bytes;
      ASSERT_EQ(counts.has_room_for_game(bytes), fits);
      if (origin == Origin::library ? model.size() > 60 : !fits) continue;
      counts.add(bytes, origin);
      model.emplace_back(bytes, origin);
    } else {
      const auto count = static_cast<std::uint32_t>(random / 8 % (model.size() + 1));
      confirmed += count;
      ASSERT_TRUE(counts.confirm(confirmed));
      model.erase(model.begin(), model.begin() + count);
    }
    std::uint32_t sendable = 0;
    for (std::size_t sum = 0; sendable < model.size() && sendable < limits.window.messages; ++sendable) {
      sum += model[sendable].first;
      if (sum > limits.window.bytes) break;
    }
    ASSERT_EQ(counts.sendable_count(), confirmed + sendable);
    ASSERT_EQ(counts.unconfirmed_count(), model.size());
    ASSERT_EQ(counts.added_count(), confirmed + model.size());
    ASSERT_TRUE(counts.is_confirmed(confirmed));
    ASSERT_FALSE(counts.is_confirmed(confirmed + 1));
  }
}

TEST(MessageCounts, RefuseImpossibleConfirmations) {
  MessageCounts counts{{}};
  EXPECT_FALSE(counts.confirm(1));
  for (int i = 0; i < 10; ++i)
    counts.add(1, Origin::library);
  EXPECT_TRUE(counts.confirm(4));
  EXPECT_TRUE(counts.confirm(4));
  EXPECT_FALSE(counts.confirm(3));
  EXPECT_FALSE(counts.confirm(11));
  EXPECT_FALSE(counts.confirm(4 + 0x80000000u));
  EXPECT_EQ(counts.confirmed_count(), 4u);
  EXPECT_EQ(counts.unconfirmed_count(), 6u);
  EXPECT_TRUE(counts.confirm(10));
  EXPECT_EQ(counts.unconfirmed_count(), 0u);
}

TEST(MessageCounts, ReportIsDueAfterEnoughMessagesOrBytes) {
  MessageCounts counts{{}};
  for (std::size_t i = 1; i < MessageCounts::kReportEvery.messages; ++i)
    counts.note_processed(1);
  EXPECT_FALSE(counts.is_report_due());
  counts.note_processed(1);
  EXPECT_TRUE(counts.is_report_due());
  EXPECT_EQ(counts.report(), MessageCounts::kReportEvery.messages);
  EXPECT_FALSE(counts.is_report_due());
  counts.note_processed(MessageCounts::kReportEvery.bytes - 1);
  EXPECT_FALSE(counts.is_report_due());
  counts.note_processed(1);
  EXPECT_TRUE(counts.is_report_due());
  EXPECT_EQ(counts.report(), MessageCounts::kReportEvery.messages + 2);
  EXPECT_EQ(counts.processed_count(), MessageCounts::kReportEvery.messages + 2);
}

}  // namespace
}  // namespace reckoner
