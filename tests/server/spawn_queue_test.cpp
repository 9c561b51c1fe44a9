// SPDX-License-Identifier: MIT
#include "server/src/session/spawn_queue.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickRateHz = 60.0;

// A section, and what its client has.
struct Bench {
  struct Datagram {
    Sequence sequence = 0;
    Tick tick = 0;
    std::vector<SpawnEntry> entries;
  };

  Datagram write(std::size_t most_bits = 1200 * 8) {
    std::array<std::byte, 1400> buffer;
    BitWriter writer{buffer};
    Datagram datagram{next++, tick, {}};
    const std::size_t written = section.write(
        writer, most_bits, {datagram.sequence, tick, kTickRateHz, loses},
        [&](Spawn& spawn, SpawnQueue::Sent& sent) {
          if (unready.contains(sent.id)) return false;
          spawn = {};
          spawn.entity = sent.id;
          sent.publish = publish;
          return true;
        },
        [&](const SpawnQueue::Sent& sent, std::size_t) { numbers[sent.id] = sent.number; },
        [](EntityId, bool, std::size_t) {});
    EXPECT_LE(writer.bits_written(), most_bits);
    if (written > 0) {
      BitReader reader{writer.finish()};
      read_spawns(reader, client.first_open(), datagram.entries);
      EXPECT_FALSE(reader.failed());
    }
    EXPECT_EQ(datagram.entries.size(), written);
    return datagram;
  }
  void settle(const Datagram& datagram, bool arrived) {
    section.settle(
        datagram.sequence, datagram.tick, arrived,
        [&](const SpawnQueue::Sent& sent) { spawned.push_back(sent); },
        [&](EntityId id) { ended.push_back(id); },
        [&](const SpawnQueue::Sent& sent) { lost.push_back(sent); });
  }
  void receive(const Datagram& datagram) {
    for (const SpawnEntry& entry : datagram.entries) {
      if (const auto* spawn = std::get_if<Spawn>(&entry)) client.settle(spawn->number);
      if (const auto* end = std::get_if<Despawn>(&entry)) client.settle(end->number);
    }
  }

  SpawnQueue section;
  SettledNumbers client;
  Sequence next = 0;
  Tick tick = 100;
  bool loses = false;
  std::uint32_t publish = 1;
  std::set<EntityId> unready;
  std::map<EntityId, std::uint32_t> numbers;
  std::vector<SpawnQueue::Sent> spawned, lost;
  std::vector<EntityId> ended;
};

EntityId entity(std::uint32_t i) {
  return {i + 1, 0};
}

TEST(SpawnQueue, LostEntriesGoAgainBeforeNewOnes) {
  Bench bench;
  bench.section.add_spawn(entity(1), bench.tick, false);
  const auto lost = bench.write();
  ASSERT_EQ(lost.entries.size(), 1u);
  EXPECT_FALSE(bench.section.is_due(bench.tick));
  bench.section.add_spawn(entity(2), bench.tick + 1, false);
  bench.settle(lost, false);
  EXPECT_EQ(bench.section.oldest_since(), Tick{100});
  const auto again = bench.write();
  ASSERT_EQ(again.entries.size(), 2u);
  EXPECT_EQ(std::get<Spawn>(again.entries[0]).entity, entity(1));
  EXPECT_EQ(std::get<Spawn>(again.entries[0]).number, 1u);
  EXPECT_EQ(std::get<Spawn>(again.entries[1]).number, 2u);
  EXPECT_FALSE(bench.section.has_all());
  bench.settle(again, true);
  EXPECT_TRUE(bench.section.has_all());
  EXPECT_EQ(bench.spawned.size(), 2u);
  EXPECT_EQ(bench.section.oldest_since(), std::nullopt);
}

TEST(SpawnQueue, EndsGoBeforeShortLivedEntitiesAndTheseBeforeOthers) {
  Bench bench;
  bench.section.add_spawn(entity(1), bench.tick, false);
  bench.settle(bench.write(), true);
  bench.section.add_spawn(entity(2), bench.tick, false);
  bench.section.add_spawn(entity(3), bench.tick, true);
  bench.section.add_end(entity(1), false, 1, bench.tick, 7);
  const auto datagram = bench.write();
  ASSERT_EQ(datagram.entries.size(), 3u);
  EXPECT_EQ(std::get<Despawn>(datagram.entries[0]).after_messages, 7);
  EXPECT_EQ(std::get<Spawn>(datagram.entries[1]).entity, entity(3));
  EXPECT_EQ(std::get<Spawn>(datagram.entries[2]).entity, entity(2));
}

// On a link that loses datagrams, each entry is written twice, some datagrams apart. Not while many wait.
TEST(SpawnQueue, CopiesLieApartAndAreLeftOutWhileManyWait) {
  for (const std::uint32_t count : {1u, 15u, 300u}) {
    Bench bench;
    bench.loses = true;
    for (std::uint32_t i = 0; i < count; ++i)
      bench.section.add_spawn(entity(i), bench.tick, false);
    std::map<EntityId, std::vector<Tick>> written;
    for (int i = 0; i < 20; ++i, ++bench.tick) {
      if (!bench.section.is_due(bench.tick)) continue;
      for (const SpawnEntry& entry : bench.write().entries)
        written[std::get<Spawn>(entry).entity].push_back(bench.tick);
    }
    ASSERT_EQ(written.size(), count);
    std::size_t copies = 0;
    for (const auto& [id, ticks] : written) {
      copies += ticks.size() - 1;
      if (ticks.size() > 1) {
        EXPECT_GE(ticks[1] - ticks[0], 4u);
      }
    }
    if (count <= 40) {
      EXPECT_EQ(copies, count);
    } else {
      EXPECT_LT(copies, count / 2);
    }
  }
}

TEST(SpawnQueue, WhatIsNotReadyDoesNotHoldUpOthers) {
  Bench bench;
  for (std::uint32_t i = 0; i < 3; ++i)
    bench.section.add_spawn(entity(i), bench.tick, false);
  bench.unready = {entity(0)};
  EXPECT_EQ(bench.write().entries.size(), 2u);
  EXPECT_EQ(bench.write().entries.size(), 0u);
  EXPECT_FALSE(bench.section.is_due(bench.tick)) << "it does not need a datagram in every tick";
  EXPECT_TRUE(bench.section.is_due(bench.tick + 6));
  bench.unready.clear();
  bench.section.try_again();
  EXPECT_TRUE(bench.section.is_due(bench.tick));
  const auto datagram = bench.write();
  ASSERT_EQ(datagram.entries.size(), 1u);
  EXPECT_EQ(std::get<Spawn>(datagram.entries[0]).number, 3u) << "numbers are in the order of writing";
}

TEST(SpawnQueue, NewerMotionsFollowAFewTimesUntilTheAcknowledgement) {
  Bench bench;
  bench.section.add_spawn(entity(1), bench.tick, false);
  std::vector<Bench::Datagram> datagrams{bench.write()};
  for (int i = 0; i < 60; ++i) {
    ++bench.tick;
    bench.publish++;
    bench.section.repeat(bench.tick, kTickRateHz, [](EntityId) { return true; });
    if (bench.section.is_due(bench.tick)) datagrams.push_back(bench.write());
  }
  EXPECT_EQ(datagrams.size(), 5u);
  for (const auto& datagram : datagrams)
    EXPECT_EQ(std::get<Spawn>(datagram.entries.at(0)).number, 1u);
  bench.settle(datagrams[1], true);
  bench.section.repeat(bench.tick + 100, kTickRateHz, [](EntityId) { return true; });
  EXPECT_FALSE(bench.section.is_due(bench.tick + 100));
  bench.settle(datagrams[0], false);
  EXPECT_FALSE(bench.section.is_due(bench.tick + 100)) << "the client has the entity";
}

// The section forgets an acknowledged spawn. If a newer motion was lost that had followed it, the session
// sends this motion again.
TEST(SpawnQueue, NamesTheLostMotionsOfAnEntityThatTheClientHas) {
  Bench bench;
  bench.section.add_spawn(entity(1), bench.tick, false);
  const auto first = bench.write();
  bench.tick += 10;
  bench.publish = 2;
  bench.section.repeat(bench.tick, kTickRateHz, [](EntityId) { return true; });
  const auto second = bench.write();
  ASSERT_EQ(second.entries.size(), 1u);
  bench.settle(first, true);
  EXPECT_TRUE(bench.lost.empty());
  bench.settle(second, false);
  ASSERT_EQ(bench.lost.size(), 1u);
  EXPECT_EQ(bench.lost[0].publish, 2u);
  EXPECT_FALSE(bench.section.is_due(bench.tick + 100));
}

TEST(SpawnQueue, AnEntityThatEndsEarlyIsForgottenOrEnded) {
  Bench bench;
  bench.section.add_spawn(entity(1), bench.tick, false);
  bench.section.add_end(entity(1), false, 0, bench.tick, {});  // it was never written
  EXPECT_FALSE(bench.section.is_due(bench.tick));
  EXPECT_EQ(bench.section.oldest_since(), std::nullopt);
  bench.section.add_spawn(entity(2), bench.tick, true);
  const auto spawn = bench.write();
  bench.section.end_as_planned(entity(2), 1, bench.tick);
  bench.settle(spawn, false);
  const auto end = bench.write();
  ASSERT_EQ(end.entries.size(), 1u) << "the client waits for the number otherwise";
  EXPECT_EQ(std::get<Despawn>(end.entries[0]).number, 1u);
  bench.settle(end, true);
  EXPECT_TRUE(bench.section.has_all());
  EXPECT_EQ(bench.ended, std::vector{entity(2)});
}

// A client that acknowledges nothing gets the ends again and again, but the server forgets the oldest.
TEST(SpawnQueue, IsBoundedWithoutAcknowledgements) {
  Bench bench;
  std::size_t written = 0;
  std::deque<Bench::Datagram> flight;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    bench.section.add_refusal(i, ++bench.tick);
    flight.push_back(bench.write());
    written += flight.back().entries.size();
    if (flight.size() <= 200) continue;
    bench.settle(flight.front(), false);
    flight.pop_front();
  }
  EXPECT_GT(written, 6000u);
  std::set<std::uint32_t> keys;
  for (const auto& datagram : flight)
    bench.settle(datagram, false);
  for (int i = 0; i < 100; ++i) {
    for (const SpawnEntry& entry : bench.write().entries)
      keys.insert(std::get<PredictionRefusal>(entry).key);
  }
  EXPECT_LE(keys.size(), 1024u);
  EXPECT_TRUE(keys.contains(2999));
}

// Entities come and go at random, datagrams are lost and overtake each other.
TEST(SpawnQueue, TheClientGetsAllEntitiesAndEnds) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    scenario::Random random{seed};
    Bench bench;
    bench.loses = seed != 2;
    std::map<EntityId, std::uint32_t> known;  // of the client, with numbers
    std::map<EntityId, std::uint32_t> ends;
    std::set<EntityId> followed;
    std::vector<Bench::Datagram> flight;
    std::uint32_t created = 0;
    const auto arrive = [&](const Bench::Datagram& datagram) {
      bench.receive(datagram);
      for (const SpawnEntry& entry : datagram.entries) {
        if (const auto* spawn = std::get_if<Spawn>(&entry)) {
          if (spawn->number > std::max(ends[spawn->entity], known[spawn->entity]))
            known[spawn->entity] = spawn->number;
        } else if (const auto* end = std::get_if<Despawn>(&entry)) {
          ends[end->entity] = std::max(ends[end->entity], end->number);
        }
      }
    };
    for (int i = 0; i < 20'000; ++i) {
      ++bench.tick;
      const bool ends_soon = i > 18'000;
      if (!ends_soon && random.chance(0.5)) {
        const EntityId id =
            entity(random.chance(0.3) ? created : static_cast<std::uint32_t>(random.below(50)));
        created += id == entity(created) ? 1 : 0;
        if (followed.insert(id).second) {
          bench.numbers.erase(id);
          bench.section.add_spawn(id, bench.tick, random.chance(0.3));
        } else {
          const auto number = bench.numbers.find(id);
          bench.section.add_end(id, false, number == bench.numbers.end() ? 0 : number->second, bench.tick,
                                {});
          followed.erase(id);
        }
      }
      if (bench.section.is_due(bench.tick)) flight.push_back(bench.write(random.chance(0.1) ? 300 : 4000));
      while (!flight.empty() && (flight.size() > 20 || ends_soon)) {
        const std::size_t pick = random.below(flight.size());
        const Bench::Datagram datagram = flight[pick];
        flight.erase(flight.begin() + static_cast<std::ptrdiff_t>(pick));
        const bool arrives = random.chance(0.7);
        if (arrives) arrive(datagram);
        bench.settle(datagram, arrives && random.chance(0.8));  // or the acknowledgement is lost
      }
    }
    std::set<EntityId> shown;
    for (const auto& [id, number] : known) {
      if (number > ends[id]) shown.insert(id);
    }
    EXPECT_EQ(shown, followed) << seed;
    EXPECT_TRUE(bench.client.all_up_to(bench.section.newest_number()));
    EXPECT_TRUE(bench.section.has_all());
    EXPECT_EQ(bench.section.oldest_since(), std::nullopt);
    EXPECT_FALSE(bench.section.is_due(bench.tick + 10));
  }
}

}  // namespace
}  // namespace reckoner
