// SPDX-License-Identifier: MIT
#include "client/src/connection/ordered_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr std::size_t kBytes = 10;
constexpr int kMark = -1;  // an AfterSpawnsMessage
constexpr int kNone = -2;  // nothing can be processed

void add_game_message(OrderedMessages& messages, std::uint8_t letter, std::size_t bytes = kBytes) {
  messages.add(GameDataMessage{{std::byte{letter}}, {}}, bytes);
}

// The letter of the next message, kMark or kNone.
int next(OrderedMessages& messages, const SettledNumbers& spawns) {
  const auto found = messages.next(spawns);
  if (!found) return kNone;
  if (const auto* unordered = std::get_if<UnorderedMessage>(&**found))
    return static_cast<int>(unordered->data.payload[0]);
  const auto* game = std::get_if<GameDataMessage>(&**found);
  return game == nullptr ? kMark : static_cast<int>(game->payload[0]);
}

TEST(OrderedMessages, WaitForTheSpawnsThatTheServerSentBefore) {
  SettledNumbers spawns;
  OrderedMessages messages;
  add_game_message(messages, 1);
  messages.add(AfterSpawnsMessage{2}, kBytes);
  add_game_message(messages, 2);
  EXPECT_EQ(next(messages, spawns), 1) << "sent before the spawns";
  EXPECT_EQ(next(messages, spawns), kNone);
  spawns.settle(2);
  EXPECT_EQ(next(messages, spawns), kNone) << "the spawn 1 is missing";
  spawns.settle(1);
  EXPECT_EQ(next(messages, spawns), kMark);
  EXPECT_EQ(next(messages, spawns), 2);
  EXPECT_EQ(next(messages, spawns), kNone);
}

UnorderedMessage unordered(std::uint8_t letter, std::optional<std::uint32_t> after_spawns) {
  return {{{std::byte{letter}}, {}}, after_spawns};
}

TEST(OrderedMessages, UnorderedOnesWaitForSpawnsAndForNothingElse) {
  SettledNumbers spawns;
  OrderedMessages messages;
  messages.add(AfterSpawnsMessage{3}, kBytes);
  add_game_message(messages, 1);
  messages.add_early(unordered(2, 2), kBytes);
  messages.add_early(unordered(3, std::nullopt), kBytes);
  EXPECT_EQ(next(messages, spawns), 3) << "before all others";
  EXPECT_EQ(next(messages, spawns), kNone);
  spawns.settle(1);
  spawns.settle(2);
  EXPECT_EQ(next(messages, spawns), 2);
  EXPECT_EQ(next(messages, spawns), kNone);
  spawns.settle(3);
  EXPECT_EQ(next(messages, spawns), kMark);
  EXPECT_EQ(next(messages, spawns), 1);

  // The turn of an unordered message, which waits for what the message waits for.
  messages.add_in_turn(unordered(4, 5), kBytes);
  add_game_message(messages, 5);
  EXPECT_EQ(next(messages, spawns), kNone);
  spawns.settle(4);
  spawns.settle(5);
  EXPECT_EQ(next(messages, spawns), 4);
  EXPECT_EQ(next(messages, spawns), kMark);
  EXPECT_EQ(next(messages, spawns), 5);
  messages.add_turn(unordered(6, std::nullopt));
  EXPECT_EQ(next(messages, spawns), kMark) << "it waits for nothing";
}

// Without a loss, the game gets messages of both kinds in the order of sending.
TEST(OrderedMessages, KeepTheOrderOfThoseThatDoNotWait) {
  const SettledNumbers none;
  OrderedMessages messages;
  add_game_message(messages, 1);
  messages.add_in_turn(unordered(2, std::nullopt), kBytes);
  add_game_message(messages, 3);
  EXPECT_EQ(next(messages, none), 1);
  EXPECT_EQ(next(messages, none), 2);
  EXPECT_EQ(next(messages, none), kMark);
  EXPECT_EQ(next(messages, none), 3);
  EXPECT_EQ(next(messages, none), kNone);
}

// A message that has overtaken another one in the queue is not returned again in its turn.
TEST(OrderedMessages, ReturnAnUnorderedOneOnce) {
  SettledNumbers spawns;
  OrderedMessages messages;
  messages.add(AfterSpawnsMessage{1}, kBytes);
  messages.add_in_turn(unordered(2, std::nullopt), kBytes);
  add_game_message(messages, 3);
  EXPECT_EQ(next(messages, spawns), 2) << "the mark waits, it does not";
  EXPECT_EQ(next(messages, spawns), kNone);
  spawns.settle(1);
  EXPECT_EQ(next(messages, spawns), kMark);
  EXPECT_EQ(next(messages, spawns), kMark) << "its turn";
  EXPECT_EQ(next(messages, spawns), 3);
  EXPECT_EQ(next(messages, spawns), kNone);
}

TEST(OrderedMessages, DoNotWaitWhenTheSessionEnds) {
  OrderedMessages messages;
  messages.add_early(unordered(1, 9), kBytes);
  EXPECT_TRUE(messages.next_at_the_end());
  EXPECT_FALSE(messages.next_at_the_end());
  messages.add(AfterSpawnsMessage{7}, kBytes);
  add_game_message(messages, 1);
  EXPECT_TRUE(messages.next_at_the_end());
  EXPECT_TRUE(messages.next_at_the_end());
  EXPECT_FALSE(messages.next_at_the_end());
}

// A hostile server never sends the spawn that its messages wait for.
TEST(OrderedMessages, OnlyABoundedNumberAndSizeWait) {
  const SettledNumbers none;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{16 * 1024}}) {
    OrderedMessages messages;
    messages.add(AfterSpawnsMessage{1}, bytes);
    std::size_t waiting = 1;
    for (; waiting < 20'000 && next(messages, none) == kNone; ++waiting)
      add_game_message(messages, 1, bytes);
    EXPECT_LE(waiting, 8193u);
    EXPECT_LE(waiting * bytes, 2u * 1024 * 1024 + bytes);
    EXPECT_GE(waiting, bytes == 1 ? 8193u : 129u) << "and not fewer";
    EXPECT_EQ(next(messages, none), 1) << "in order";
    OrderedMessages early;
    for (waiting = 0; waiting < 20'000 && next(early, none) == kNone; ++waiting)
      early.add_early(unordered(1, 1), bytes);
    EXPECT_LE(waiting, 8193u);
    EXPECT_LE(waiting * bytes, 2u * 1024 * 1024 + bytes);
  }
}

}  // namespace
}  // namespace reckoner
