// SPDX-License-Identifier: MIT
#include "server/src/publish/field_updates.hpp"

#include "net/src/codec/field_codec.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kRoomBits = kMaxDatagramBytes * 8;

std::vector<Archetype> archetypes_with(std::vector<FieldSpec> fields) {
  std::vector<Archetype> archetypes(2);
  archetypes[0].fields = std::move(fields);
  return archetypes;  // the second archetype has no fields
}

/// The field table and the bookkeeping for one client. The test decides which datagrams arrive.
struct FieldUpdateBench {
  explicit FieldUpdateBench(std::vector<FieldSpec> fields = {{"a", IntegerField{0, 1000, 0}},
                                                             {"b", IntegerField{0, 1000, 0}}})
      : archetypes(archetypes_with(std::move(fields))), table(archetypes) {}

  /// Oldest tick whose changes the client may lack.
  [[nodiscard]] std::optional<Tick> oldest() const {
    std::optional<Tick> oldest;
    updates.for_each_since([&](Tick since) { oldest = std::min(oldest.value_or(since), since); });
    return oldest;
  }

  EntityId add(std::uint32_t slot, std::uint16_t generation = 1) {
    const EntityId id{slot + 1, generation};
    table.add(id, 0, tick);
    return id;
  }
  void set(EntityId id, std::size_t field, std::int64_t value, bool allowed = true) {
    EXPECT_TRUE(table.set(id, field, value, tick));
    table.changes().for_each([&](std::uint32_t slot) {
      updates.changed(table.row(slot).id, table.row(slot).changed_now, tick, allowed);
    });
    table.clear_changes();
  }

  struct Change {
    std::uint32_t slot;
    std::size_t field;
    Tick tick;
    FieldValue value;
  };

  /// Sends the due changes in the next datagram and decodes them.
  std::vector<Change> send(std::size_t most_bits = kRoomBits) {
    std::array<std::byte, kMaxDatagramBytes> buffer;
    BitWriter writer{buffer};
    last = updates.write(writer, most_bits, sequence++, tick, table);
    ++tick;
    EXPECT_LE(writer.bits_written(), most_bits);
    std::vector<Change> out;
    if (last.entities == 0) {
      EXPECT_EQ(writer.bits_written(), 0u);
      return out;
    }
    BitReader reader{writer.finish()};
    std::int64_t previous = -1;
    while (const auto slot = read_field_slot(reader, previous)) {
      previous = *slot;
      std::vector<FieldChange> changes;
      read_changes(reader, archetypes[0].fields, changes);
      for (const FieldChange& c : changes)
        out.push_back({*slot, c.field, tick - 1 - c.age, c.value});
    }
    EXPECT_TRUE(reader.finished());
    EXPECT_EQ(out.size(), last.changes);
    return out;
  }
  void settle(Sequence which, bool acked) {
    updates.settle(which, acked);
    updates.requeue_lost(table);
  }

  std::vector<Archetype> archetypes;
  FieldTable table;
  FieldUpdates updates;
  FieldUpdates::Written last;
  Tick tick = 100;
  Sequence sequence = 65534;  // wraps soon
};

TEST(FieldTable, RefusesInvalidValuesAndIgnoresUnchangedOnes) {
  FieldUpdateBench bench({{"a", RealField{0.0, 1.0, 0.1, 0.0}}});
  const EntityId id = bench.add(3);
  EXPECT_FALSE(bench.table.set({1, 1}, 0, 0.5, 0));
  EXPECT_FALSE(bench.table.set({4, 2}, 0, 0.5, 0));
  EXPECT_FALSE(bench.table.set(id, 1, 0.5, 0));
  EXPECT_FALSE(bench.table.set(id, 0, 1.5, 0));
  EXPECT_FALSE(bench.table.set(id, 0, std::int64_t{0}, 0));
  EXPECT_TRUE(bench.table.set(id, 0, 0.04, 0));  // rounds to the current value
  EXPECT_TRUE(bench.table.changes().empty());
  EXPECT_TRUE(bench.table.set(id, 0, 0.06, 0));
  EXPECT_TRUE(bench.table.changes().contains(3));
  bench.table.add({8, 1}, 1, 0);  // an entity of the archetype without fields
  EXPECT_FALSE(bench.table.set({8, 1}, 0, 0.5, 0));
  bench.table.remove(id);
  EXPECT_EQ(bench.table.find(id), nullptr);
  EXPECT_TRUE(bench.table.changes().empty());
}

TEST(FieldUpdates, SendsAChangeOnceWithItsTick) {
  FieldUpdateBench bench;
  const EntityId id = bench.add(5);
  bench.set(id, 1, 42);
  EXPECT_EQ(bench.oldest(), 100u);
  const auto sent = bench.send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].slot, 5u);
  EXPECT_EQ(sent[0].field, 1u);
  EXPECT_EQ(sent[0].tick, 100u);
  EXPECT_EQ(sent[0].value, FieldValue{std::int64_t{42}});
  EXPECT_FALSE(bench.updates.any());
  EXPECT_FALSE(bench.oldest());
  bench.settle(65534, true);
  EXPECT_TRUE(bench.send().empty());
}

TEST(FieldUpdates, RepeatsALostChangeWithItsOriginalTick) {
  FieldUpdateBench bench;
  const EntityId id = bench.add(5);
  bench.set(id, 0, 1);
  bench.send();
  bench.settle(65534, false);
  EXPECT_EQ(bench.oldest(), 100u);
  const auto again = bench.send();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].tick, 100u);
  EXPECT_EQ(bench.last.repairs, 1u);
  bench.settle(65535, false);  // lost again
  EXPECT_EQ(bench.send().size(), 1u);
}

TEST(FieldUpdates, NeverRepeatsAnOutdatedValue) {
  FieldUpdateBench bench;
  const EntityId id = bench.add(5);
  bench.set(id, 0, 1);
  bench.set(id, 1, 1);
  bench.send();
  bench.set(id, 0, 2);
  ASSERT_EQ(bench.send().size(), 1u);
  bench.settle(65534, false);  // a newer value of field 0 is in flight
  const auto again = bench.send();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].field, 1u);
  bench.settle(65535, false);
  const auto third = bench.send();
  ASSERT_EQ(third.size(), 1u);
  EXPECT_EQ(third[0].value, FieldValue{std::int64_t{2}});
}

TEST(FieldUpdates, SendsNothingBeforeTheClientKnowsTheEntity) {
  FieldUpdateBench bench;
  const EntityId id = bench.add(5);
  bench.set(id, 0, 1, false);
  EXPECT_FALSE(bench.updates.any());
  EXPECT_EQ(bench.oldest(), 100u);  // but the client still lacks a change
  EXPECT_TRUE(bench.send().empty());
  bench.updates.release_postponed(id);
  EXPECT_EQ(bench.send().size(), 1u);
}

TEST(FieldUpdates, ForgottenEntityIsNeitherSentNorRepaired) {
  FieldUpdateBench bench;
  const EntityId id = bench.add(5);
  bench.set(id, 0, 1);
  bench.send();
  bench.set(id, 1, 1);
  bench.updates.forget(id);
  bench.settle(65534, false);
  EXPECT_FALSE(bench.updates.any());
  const EntityId next = bench.add(5, 2);  // the next entity, in the slot of the removed one
  bench.set(next, 0, 9);
  const auto sent = bench.send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].value, FieldValue{std::int64_t{9}});
}

TEST(FieldUpdates, SendsTheOldestChangesFirstWhenNotAllFit) {
  FieldUpdateBench bench;
  std::vector<EntityId> ids;
  for (std::uint32_t slot = 0; slot < 50; ++slot)
    ids.push_back(bench.add(slot));
  bench.set(ids[40], 0, 1);
  bench.set(ids[20], 0, 1);
  ++bench.tick;
  for (const EntityId id : ids)
    bench.set(id, 1, 2);
  std::map<std::uint32_t, int> first;
  for (const FieldUpdateBench::Change& c : bench.send(100))
    ++first[c.slot];
  EXPECT_EQ(first[20], 2);
  EXPECT_EQ(first[40], 2);
  EXPECT_LT(first.size(), 6u);
  std::size_t rounds = 1;
  while (bench.updates.any()) {
    ASSERT_FALSE(bench.send(100).empty());
    ASSERT_LT(++rounds, 60u);
  }
}

TEST(FieldUpdates, SplitsAnEntityLargerThanADatagram) {
  std::vector<FieldSpec> fields;
  for (std::size_t i = 0; i < kMaxFields; ++i)
    fields.push_back({"f" + std::to_string(i), BlobField{}});
  FieldUpdateBench bench(fields);
  const EntityId id = bench.add(0);
  const std::array<std::byte, kMaxBlobBytes> bytes{std::byte{7}};
  for (std::size_t i = 0; i < kMaxFields; ++i)
    EXPECT_TRUE(bench.table.set(id, i, *Blob::of(bytes), bench.tick));
  bench.updates.changed(id, ~0u, bench.tick, true);
  std::size_t sent = 0;
  for (int i = 0; i < 10 && bench.updates.any(); ++i)
    sent += bench.send(600 * 8).size();
  EXPECT_EQ(sent, kMaxFields);
}

// For any loss and any datagram size, the client has the last values soon after the loss ends. Every change
// that it received is a real change with its true tick.
TEST(FieldUpdates, ClientHasTheLastValuesAfterLoss) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    FieldUpdateBench bench;
    std::vector<EntityId> ids;
    for (std::uint32_t slot = 0; slot < 10; ++slot)
      ids.push_back(bench.add(3 * slot));
    std::map<std::pair<std::uint32_t, std::size_t>, std::pair<Tick, FieldValue>> client;
    std::map<std::tuple<std::uint32_t, std::size_t, Tick>, FieldValue> made;
    std::deque<std::pair<Sequence, bool>> flying;
    for (int step = 0; step < 300; ++step) {
      const bool calm = step >= 200;
      for (int i = static_cast<int>(random() % 6); i > 0 && !calm; --i) {
        const EntityId id = ids[random() % ids.size()];
        const std::size_t field = random() % 2;
        const auto value = static_cast<std::int64_t>(random() % 1000);
        bench.set(id, field, value);
        made[{static_cast<std::uint32_t>(id.slot()), field, bench.tick}] = value;
      }
      const bool arrives = calm || random() % 100 >= 30;
      const Sequence sequence = bench.sequence;
      for (const FieldUpdateBench::Change& c : bench.send(80 + random() % 200)) {
        if (!arrives) continue;
        EXPECT_EQ((made[{c.slot, c.field, c.tick}]), c.value);
        auto& known = client[{c.slot, c.field}];
        if (c.tick >= known.first) known = {c.tick, c.value};
      }
      flying.emplace_back(sequence, arrives);
      if (flying.size() > 10) {
        bench.settle(flying.front().first, flying.front().second);
        flying.pop_front();
      }
    }
    EXPECT_FALSE(bench.updates.any());
    for (const EntityId id : ids) {
      for (const std::size_t field : {0u, 1u}) {
        const auto known = client.find({static_cast<std::uint32_t>(id.slot()), field});
        const FieldValue value = known == client.end() ? FieldValue{std::int64_t{0}} : known->second.second;
        EXPECT_EQ(value, bench.table.find(id)->values[field]);
      }
    }
  }
}

}  // namespace
}  // namespace reckoner
