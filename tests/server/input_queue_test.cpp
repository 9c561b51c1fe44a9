// SPDX-License-Identifier: MIT
#include "server/src/prediction/input_queue.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr std::uint32_t kRepeat = 12;  // ticks

Input keys(unsigned value) {
  return Input(std::array{static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)});
}

InputBatch batch_of(Tick newest, std::size_t count, unsigned first_key) {
  InputBatch batch;
  batch.newest = newest;
  for (unsigned i = 0; i < count; ++i)
    batch.inputs.push_back(keys(first_key + i));
  return batch;
}

struct Queue {
  InputQueue queue;
  PredictionStats stats;

  std::optional<Refusal> add(const InputBatch& batch, Tick next, double wait_ticks = 0.5) {
    return queue.add(batch, next, wait_ticks, stats);
  }
  const InputQueue::Taken& take(Tick tick) { return queue.take(tick, kRepeat, stats); }
};

// Sections come late, twice and in any order. Each tick gets its own input or the one of a tick before it.
TEST(InputQueue, EachTickGetsOneInputAndNeverALateOneTwice) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    Queue server;
    std::multimap<Tick, Tick> arriving;  // the newest tick of a section, by when it arrives
    std::optional<Tick> newest_used;
    std::uint64_t repeated = 0, asked = 0;
    for (Tick tick = 200; tick < 3200; ++tick) {
      if (random() % 10 < 7) arriving.emplace(tick + random() % 12, tick + 6);
      for (auto it = arriving.begin(); it != arriving.end() && it->first <= tick; it = arriving.erase(it))
        EXPECT_FALSE(server.add(batch_of(it->second, 8, it->second - 7), tick));
      const auto& taken = server.take(tick);
      if (!server.queue.any()) continue;
      ++asked;
      if (taken.repeated == 0) {
        EXPECT_EQ(taken.input, keys(tick));
        EXPECT_EQ(taken.made_for, tick);
        newest_used = tick;
      } else if (newest_used) {
        ++repeated;
        EXPECT_EQ(taken.made_for, *newest_used);  // an input of a tick that has passed is not used
        EXPECT_EQ(taken.repeated, tick - *newest_used);
        EXPECT_EQ(taken.input, taken.repeated <= kRepeat ? keys(*newest_used) : Input{});
      }
    }
    EXPECT_GT(repeated, 0u);
    EXPECT_GE(server.stats.ticks_repeated, repeated);
    EXPECT_EQ(server.stats.ticks, asked);
    EXPECT_GT(server.stats.inputs_late, 0u);
    EXPECT_EQ(server.stats.inputs_refused, 0u);
  }
}

TEST(InputQueue, AnInputThatHasArrivedIsNotChanged) {
  Queue server;
  EXPECT_FALSE(server.add(batch_of(110, 8, 1), 104));
  EXPECT_FALSE(server.add(batch_of(112, 10, 500), 104));  // other inputs for the ticks 103 to 110
  for (Tick tick = 104; tick <= 110; ++tick)
    EXPECT_EQ(server.take(tick).input, keys(tick - 102));
  EXPECT_EQ(server.take(111).input, keys(508));
  EXPECT_FALSE(server.add(batch_of(111, 8, 900), 112));  // nor after its tick
  EXPECT_EQ(*server.queue.find(111), keys(508));
}

TEST(InputQueue, RepeatsForATimeAndThenDoesNothing) {
  Queue server;
  EXPECT_TRUE(server.take(99).input.bytes().empty());
  EXPECT_EQ(server.stats.ticks, 0u);  // the client has sent none
  EXPECT_FALSE(server.add(batch_of(100, 1, 7), 100));
  EXPECT_EQ(server.take(100).repeated, 0u);
  for (std::uint32_t i = 1; i <= kRepeat; ++i) {
    EXPECT_EQ(server.take(100 + i).repeated, i);
    EXPECT_EQ(server.take(100 + i).input, keys(7));  // asking twice changes nothing
    EXPECT_TRUE(server.queue.has_repeated_since(99 + i));
    EXPECT_FALSE(server.queue.has_repeated_since(100 + i));
  }
  EXPECT_EQ(server.take(101 + kRepeat).repeated, kRepeat + 1);
  EXPECT_TRUE(server.take(101 + kRepeat).input.bytes().empty());
  EXPECT_TRUE(server.take(2000).input.bytes().empty());
  EXPECT_EQ(server.stats.ticks, kRepeat + 3);
  EXPECT_EQ(server.stats.ticks_repeated, kRepeat + 2);
}

TEST(InputQueue, RefusesWhatIsFarAheadOrLongPast) {
  Queue server;
  EXPECT_EQ(server.add(batch_of(1001 + InputQueue::kMostAhead, 5, 0), 1000), Refusal::from_future);
  EXPECT_EQ(server.add(batch_of(800, 5, 0), 1000), Refusal::too_old);
  EXPECT_EQ(server.add(batch_of(1000 + (1u << 30), 5, 0), 1000), Refusal::from_future);
  EXPECT_EQ(server.stats.inputs_refused, 15u);
  EXPECT_FALSE(server.queue.any());
  EXPECT_FALSE(server.queue.has_news());
  EXPECT_FALSE(server.add(batch_of(1000 + InputQueue::kMostAhead, 64, 0), 1000));
  EXPECT_EQ(server.take(1000).input.bytes().size(), 0u);
  EXPECT_EQ(server.take(1001).input, keys(0));
}

// What is far ahead is kept only for its tick, and never pushes out an input that comes first.
TEST(InputQueue, KeepsWhatIsAheadForItsTick) {
  Queue server;
  for (Tick next = 300; next < 900; ++next) {
    EXPECT_FALSE(server.add(batch_of(next + InputQueue::kMostAhead, 64, next + 1), next));
    if (next > 300) {
      ASSERT_EQ(server.take(next).input, keys(next));
    }
  }
  EXPECT_EQ(server.stats.inputs_late, 0u);
}

TEST(InputQueue, ReportsTheInputThatArrivedLeastEarly) {
  Queue server;
  EXPECT_FALSE(server.queue.has_news());
  EXPECT_FALSE(server.add(batch_of(110, 3, 0), 105, 0.5));   // 108 to 110: 3.5 ticks early
  EXPECT_FALSE(server.add(batch_of(112, 5, 0), 110, 0.25));  // 111, 112
  ASSERT_TRUE(server.queue.has_news());
  InputReport report = server.queue.report();
  EXPECT_EQ(report.newest, 112u);
  EXPECT_EQ(report.early, 10);  // 1.25 ticks
  EXPECT_EQ(report.timed, 111u);
  EXPECT_FALSE(server.queue.has_news());
  EXPECT_FALSE(server.add(batch_of(112, 5, 0), 111, 0.5));  // nothing is new
  EXPECT_FALSE(server.queue.has_news());
  EXPECT_FALSE(server.add(batch_of(113, 1, 0), 150, 0.5));
  report = server.queue.report();
  EXPECT_EQ(report.early, InputReport::kLeastEarly);
  EXPECT_EQ(server.stats.inputs_late, 1u);
}

}  // namespace
}  // namespace reckoner
