// SPDX-License-Identifier: MIT
// How many game messages of a client reach the game.
#include "server/src/session/message_intake.hpp"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr MessageLimit kWindow = MessageCounts::kClientWindow;
constexpr double kTickS = 1.0 / 60.0;

std::vector<std::byte> message(std::size_t size) {
  return std::vector<std::byte>(size, std::byte{1});
}

// A client that always sends what its window allows: it keeps a message until it was passed on.
TEST(MessageIntake, ClientThatRespectsTheWindowLosesNothingAndIsSlowedDown) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random{seed};
    const double per_second = seed % 3 == 0 ? 0.0 : 20.0 * seed;
    const double bytes_per_second = 1000.0 * seed;
    MessageIntake intake{per_second, bytes_per_second};
    std::deque<std::size_t> unconfirmed;
    std::size_t messages = 0, bytes = 0, unconfirmed_bytes = 0;
    constexpr double kSeconds = 60.0;
    for (std::uint32_t tick = 0; tick * kTickS < kSeconds; ++tick) {
      intake.refill(tick, kTickS);
      for (;;) {
        const std::size_t size = 1 + random() % (seed % 2 == 0 ? 100 : kMaxReliableBytes);
        if (unconfirmed.size() == kWindow.messages || unconfirmed_bytes + size > kWindow.bytes) break;
        ASSERT_TRUE(intake.postpone(message(size), 1.5));
        unconfirmed.push_back(size);
        unconfirmed_bytes += size;
      }
      (void)intake.allows_unreliable(kMaxUnreliableBytes);  // has an allowance of its own
      while (const auto passed = intake.next()) {
        ASSERT_EQ(passed->payload.size(), unconfirmed.front()) << "in order";
        EXPECT_EQ(passed->time_s, 1.5);
        unconfirmed_bytes -= unconfirmed.front();
        unconfirmed.pop_front();
        ++messages;
        bytes += passed->payload.size();
      }
    }
    if (per_second > 0.0) {
      EXPECT_LE(static_cast<double>(messages), per_second * (kSeconds + 1.0) + 1.0);
    }
    EXPECT_LE(static_cast<double>(bytes), bytes_per_second * (kSeconds + 1.0) + kMaxReliableBytes);
    // One of the two rates is used in full.
    EXPECT_TRUE(static_cast<double>(bytes) > 0.95 * bytes_per_second * kSeconds ||
                static_cast<double>(messages) > 0.95 * per_second * kSeconds);
  }
}

TEST(MessageIntake, PostponesNoMoreThanItsLimit) {
  MessageIntake few{10.0, 0.0}, large{10.0, 0.0};
  std::size_t postponed = 0;
  while (few.postpone(message(1), {}))
    ++postponed;
  EXPECT_EQ(postponed, MessageIntake::kMostPostponed.messages);
  postponed = 0;
  while (large.postpone(message(kMaxReliableBytes), {}))
    ++postponed;
  EXPECT_EQ(postponed, MessageIntake::kMostPostponed.bytes / kMaxReliableBytes);
  large.drop_postponed();
  EXPECT_FALSE(large.has_postponed());
  EXPECT_TRUE(large.postpone(message(1), {}));
}

// An unordered message is passed on when it comes, and counted in its turn.
TEST(MessageIntake, EarlyMessageIsCountedInItsTurn) {
  MessageIntake intake{10.0, 0.0};
  intake.refill(0, kTickS);
  for (std::size_t i = 1; i <= 8; ++i)
    ASSERT_TRUE(intake.postpone(message(i), {}, i % 2 == 0));
  for (std::size_t i = 2; i <= 8; i += 2)
    intake.postpone_turn(100 + i);
  std::size_t messages = 0, turns = 0;
  for (std::uint32_t tick = 1; tick < 200; ++tick) {
    intake.refill(tick, kTickS);
    while (const auto passed = intake.next()) {
      if (passed->payload.empty()) {
        EXPECT_EQ(messages, 8u) << "behind the messages";
        turns += passed->turns;
        EXPECT_EQ(passed->counted, 102u + 104u + 106u + 108u);
      } else {
        EXPECT_EQ(passed->payload.size(), ++messages);
        EXPECT_EQ(passed->turns, messages % 2);
        EXPECT_EQ(passed->counted, messages % 2 == 0 ? 0 : messages);
      }
    }
  }
  EXPECT_EQ(messages, 8u);
  EXPECT_EQ(turns, 4u);
  EXPECT_FALSE(intake.has_postponed());
  std::size_t postponed = 0;
  for (intake.postpone_turn(1); intake.postpone(message(1), {}); ++postponed) {
  }
  EXPECT_EQ(postponed, MessageIntake::kMostPostponed.messages) << "a turn is no message";
}

// However many messages a hostile client sends before their turn, their turns need no memory.
TEST(MessageIntake, TurnsInARowAreOneEntry) {
  MessageIntake intake{0.0, 0.0};
  constexpr std::uint32_t kTurns = 100'000;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}}) {
    ASSERT_TRUE(intake.postpone(message(bytes), {}));
    for (std::uint32_t turn = 0; turn < kTurns; ++turn)
      intake.postpone_turn(3);
  }
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_EQ(intake.next()->payload.size(), bytes);
    const auto turns = intake.next();
    ASSERT_TRUE(turns);
    EXPECT_TRUE(turns->payload.empty());
    EXPECT_EQ(turns->turns, kTurns);
    EXPECT_EQ(turns->counted, std::size_t{3} * kTurns);
  }
  EXPECT_FALSE(intake.has_postponed());
}

TEST(MessageIntake, RefusesUnreliableMessagesBeyondTheRate) {
  MessageIntake intake{10.0, 0.0};
  std::size_t passed = 0;
  for (std::uint32_t tick = 0; tick < 600; ++tick) {
    intake.refill(tick, kTickS);
    for (int i = 0; i < 5; ++i)
      passed += intake.allows_unreliable(1) ? 1 : 0;
  }
  EXPECT_GE(passed, 100u);
  EXPECT_LE(passed, 106u);
}

TEST(MessageIntake, CountsTicksAcrossTheirWrapAndIgnoresEarlierOnes) {
  MessageIntake intake{60.0, 0.0};
  intake.refill(0xFFFFFFF0u, kTickS);
  std::size_t passed = 0;
  const auto use_up = [&] {
    while (intake.allows_unreliable(1))
      ++passed;
  };
  use_up();
  EXPECT_EQ(passed, 30u);
  intake.refill(0xFFFFFFE0u, kTickS);  // earlier
  use_up();
  EXPECT_EQ(passed, 30u);
  intake.refill(4, kTickS);  // 20 ticks later
  use_up();
  EXPECT_EQ(passed, 50u);
}

TEST(MessageIntake, NoLimitPassesEverything) {
  MessageIntake intake{0.0, 0.0};
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(intake.allows_unreliable(kMaxUnreliableBytes));
    ASSERT_TRUE(intake.postpone(message(100), {}));
    ASSERT_TRUE(intake.next());
  }
}

}  // namespace
}  // namespace reckoner
