// SPDX-License-Identifier: MIT
#include "server/src/session/spawn_queue.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

void note_oldest(std::optional<Tick>& oldest, Tick tick) {
  if (!oldest || earlier(tick, *oldest)) oldest = tick;
}

TEST(SpawnQueue, OldestIsTheMinimumInAnyOrder) {
  scenario::Random random{1};
  const Tick begin = 0xffffff00u;  // ticks wrap
  SpawnQueue queue;
  std::deque<Tick> waiting, despawns, unconfirmed;
  std::uint32_t sent = 0, confirmed = 0;
  for (Tick i = 0; i < 40'000; ++i) {
    const Tick now = begin + i / 20;
    switch (random.below(8)) {
      case 0:
      case 1:
        if (waiting.size() > 50) break;
        waiting.push_back(now + static_cast<Tick>(random.below(30)));
        queue.add_spawn({1, 1}, 1, waiting.back());
        break;
      case 2:
        if (waiting.empty()) break;
        waiting.push_back(waiting.front());
        waiting.pop_front();
        queue.defer_spawn();
        break;
      case 3:
        if (waiting.empty()) break;
        if (random.chance(0.2)) {
          queue.drop_spawn();
        } else {
          queue.spawn_sent({++sent, 1, 0, now}, now);
          unconfirmed.push_back(waiting.front());
        }
        waiting.pop_front();
        break;
      case 4:
        despawns.push_back(now);
        queue.add_despawn({1, 1}, now);
        break;
      case 5:
        if (despawns.empty()) break;
        queue.despawn_sent(++sent);
        unconfirmed.push_back(despawns.front());
        despawns.pop_front();
        break;
      default:
        const auto count = static_cast<std::uint32_t>(random.below(3));
        confirmed += std::min<std::uint32_t>(count, sent - confirmed);
        queue.confirm(confirmed, [](const SpawnQueue::Spawn&) {});
        unconfirmed.erase(unconfirmed.begin(), unconfirmed.end() - (sent - confirmed));
    }
    std::optional<Tick> expected;
    for (const auto* list : {&waiting, &despawns, &unconfirmed}) {
      for (const Tick tick : *list)
        note_oldest(expected, tick);
    }
    ASSERT_EQ(queue.oldest_since(), expected) << i;
  }
  EXPECT_GT(confirmed, 5'000u);
}

TEST(SpawnQueue, ConfirmsSpawnsAndRepeatsInOrder) {
  SpawnQueue queue;
  queue.add_spawn({1, 1}, 10, 100);
  queue.add_spawn({2, 1}, 11, 100);
  queue.spawn_sent({1, 5, 0, 100}, 101);
  queue.spawn_sent({2, 7, 1, 99}, 101);
  queue.add_despawn({3, 1}, 102);
  queue.despawn_sent(3);
  std::size_t called = 0;
  queue.for_each_unconfirmed_spawn(2, [&](SpawnQueue::Spawn&) { ++called; });
  EXPECT_EQ(called, 0u) << "more than two messages are unconfirmed";
  queue.for_each_unconfirmed_spawn(3, [&](SpawnQueue::Spawn& spawn) {
    ++called;
    if (spawn.serial == 10u) queue.repeat_sent(spawn, {4, 6, 0, 104}, 104);
  });
  EXPECT_EQ(called, 2u) << "a despawn is no spawn, and a repeat is not repeated";

  std::vector<SpawnQueue::Spawn> confirmed;
  queue.confirm(1, [&](const SpawnQueue::Spawn& spawn) { confirmed.push_back(spawn); });
  ASSERT_EQ(confirmed.size(), 1u);
  EXPECT_EQ(confirmed[0].publish, 5u);
  EXPECT_EQ(confirmed[0].repeats, 1);
  EXPECT_EQ(queue.oldest_since(), 100u) << "of the second entity";
  queue.confirm(3, [&](const SpawnQueue::Spawn& spawn) { confirmed.push_back(spawn); });
  ASSERT_EQ(confirmed.size(), 2u);
  EXPECT_EQ(confirmed[1].serial, 11u);
  EXPECT_EQ(queue.oldest_since(), 102u) << "the client has the first motion, sent in tick 101";
  queue.confirm(4, [&](const SpawnQueue::Spawn& spawn) { confirmed.push_back(spawn); });
  ASSERT_EQ(confirmed.size(), 3u);
  EXPECT_TRUE(confirmed[2].is_repeat);
  EXPECT_EQ(confirmed[2].motion_tick, 104u);
  EXPECT_FALSE(queue.oldest_since());
}

}  // namespace
}  // namespace reckoner
