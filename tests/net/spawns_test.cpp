// SPDX-License-Identifier: MIT
#include "net/src/messages/spawns.hpp"

#include "scenario/builtin/random.hpp"
#include "tests/fuzz/generate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;
using Entries = std::vector<SpawnEntry>;

Bytes section_of(const Entries& entries) {
  Bytes buffer(64 * 1024);
  BitWriter writer{buffer};
  SpawnsWriter section;
  for (const SpawnEntry& entry : entries)
    EXPECT_TRUE(section.add(writer, entry, buffer.size() * 8));
  section.finish(writer);
  buffer.resize(writer.finish().size());
  return buffer;
}

// The entries, or nullopt if the section is malformed.
std::optional<Entries> read(std::span<const std::byte> bytes, std::uint32_t near = 1) {
  BitReader reader{bytes};
  Entries entries;
  read_spawns(reader, near, entries);
  if (!reader.finished()) return std::nullopt;
  return entries;
}

Entries random_entries(std::uint64_t seed, std::size_t count, std::uint32_t newest) {
  scenario::Random random{seed};
  Bytes decisions(400 * count);
  for (std::byte& each : decisions)
    each = static_cast<std::byte>(random.next());
  fuzz::Choices choices{decisions};
  Entries entries;
  while (entries.size() < count)
    entries.push_back(fuzz::any_spawn_entry(choices, newest));
  return entries;
}

Spawn spawn_of(std::uint32_t number, std::uint32_t slot) {
  Spawn spawn;
  spawn.number = number;
  spawn.entity = {slot + 1, 0};
  return spawn;
}

std::size_t bits_of(const Entries& entries) {
  Bytes buffer(64 * 1024);
  BitWriter writer{buffer};
  SpawnsWriter section;
  for (const SpawnEntry& entry : entries)
    EXPECT_TRUE(section.add(writer, entry, buffer.size() * 8));
  return writer.bits_written();
}

TEST(Spawns, RandomEntriesRoundTrip) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::uint32_t newest = seed % 2 == 0 ? 500 : 1'000'000;
    const Entries entries = random_entries(seed, 1 + seed % 30, newest);
    ASSERT_EQ(read(section_of(entries), newest), entries) << seed;
  }
}

// The largest numbers and contents, and the smallest.
TEST(Spawns, ExtremesRoundTrip) {
  Spawn largest = spawn_of(40'000, kMaxEntities - 1);
  largest.entity.generation = UINT16_MAX;
  largest.archetype = 255;
  largest.level = UpdateHeader::kLevels - 1;
  largest.orientation_bits = 15;
  largest.age = UINT32_MAX;
  largest.state.frame = {kMaxEntities, UINT16_MAX};
  largest.state.coding_mode.precision = kMaxPrecision;
  constexpr std::int64_t kFar = (std::int64_t{1} << 47) - 1;
  constexpr std::int32_t kFast = (1 << 30) - 1;
  largest.state.position = {kFar, -kFar, kFar};
  largest.state.velocity = {-kFast, kFast, kFast};
  largest.state.acceleration = {kFast, kFast, -kFast};
  largest.state.angular_velocity = {kFast, -kFast, kFast};
  largest.state.orientation = {16383, -16383, 16383};
  largest.short_lived = Spawn::ShortLife{UINT32_MAX, UINT32_MAX, Bytes(kMaxSpawnDataBytes, std::byte{0xff})};
  largest.fields = Bytes(kMaxSpawnContentBytes, std::byte{0xff});
  Spawn named = spawn_of(1, 0);
  named.name = std::string(kMaxNameBytes, '\xff');
  named.fields = largest.fields;
  const Despawn end{UINT32_MAX, {kMaxEntities, UINT16_MAX}, UINT32_MAX, UINT16_MAX};
  for (const SpawnEntry& entry : Entries{largest, named, spawn_of(1, 0), end, Despawn{1, {1, 0}, 0, {}},
                                         PredictionRefusal{UINT32_MAX}, PredictionRefusal{0}}) {
    EXPECT_EQ(read(section_of({entry}), 20'000), Entries{entry}) << entry.index();
    EXPECT_LE(bits_of({entry}), SpawnsWriter::kMaxEntryBytes * 8);
  }
}

// A spawn has 16 bits of its number on the wire. They wrap many times in a session.
TEST(Spawns, NumbersWrapSixteenBits) {
  scenario::Random random{1};
  for (const std::uint32_t near :
       {1u, 32'700u, 65'530u, 65'536u, 65'540u, 98'304u, 1'000'000u, 0xfffffff0u}) {
    for (int i = 0; i < 200; ++i) {
      const std::int64_t first = near + static_cast<std::int64_t>(random.below(60'000)) - 30'000;
      Entries entries;
      for (std::int64_t n = first; n < first + 5; ++n) {
        const std::int64_t number = n + static_cast<std::int64_t>(random.below(3));
        if (number >= 1 && number <= UINT32_MAX)
          entries.emplace_back(spawn_of(static_cast<std::uint32_t>(number), 3));
      }
      if (entries.empty()) continue;
      ASSERT_EQ(read(section_of(entries), near), entries) << near;
    }
  }
}

// An entity can end long after its spawn: the number of the despawn is far from all numbers of spawns.
TEST(Spawns, OldEntitiesEnd) {
  scenario::Random random{2};
  for (int i = 0; i < 500; ++i) {
    const auto near = static_cast<std::uint32_t>(1 + random.below(10'000'000));
    Entries entries;
    for (int n = 0; n < 4; ++n) {
      const auto number = static_cast<std::uint32_t>(1 + random.below(near + 100));
      entries.emplace_back(Despawn{number, {static_cast<std::uint32_t>(1 + random.below(99)), 3}, 1, {}});
      entries.emplace_back(spawn_of(near + static_cast<std::uint32_t>(random.below(9)), 50));
    }
    std::rotate(entries.begin(), entries.begin() + i % 2, entries.end());
    ASSERT_EQ(read(section_of(entries), near), entries) << near;
  }
}

TEST(Spawns, RefusalBeforeASpawnDoesNotChangeItsNumber) {
  const Entries entries{PredictionRefusal{7}, spawn_of(100'001, 4), PredictionRefusal{8},
                        spawn_of(100'002, 5)};
  EXPECT_EQ(read(section_of(entries), 100'000), entries);
}

// Spawns in a row cost few bits for number and slot, also between despawns and refusals.
TEST(Spawns, EntriesInARowAreShort) {
  const std::size_t one = bits_of({spawn_of(900, 7)});
  const std::size_t two = bits_of({spawn_of(900, 7), spawn_of(901, 8)});
  const std::size_t elsewhere = bits_of({spawn_of(900, 7), spawn_of(901, 9)});
  EXPECT_EQ(two - one, one - 15 - 20);   // one bit instead of 16, and no slot
  EXPECT_EQ(elsewhere - one, one - 15);  // one bit instead of 16
  const SpawnEntry end = Despawn{3, {300, 0}, 0, {}};
  EXPECT_EQ(bits_of({spawn_of(900, 7), end, spawn_of(901, 9)}) - bits_of({spawn_of(900, 7), end}), one - 15);
  const std::size_t ends = bits_of({Despawn{5000, {300, 0}, 0, {}}, Despawn{5001, {301, 0}, 0, {}}});
  EXPECT_LT(ends, 70u);
}

TEST(Spawns, ContentsOfAnEntry) {
  Spawn spawn = spawn_of(5, 2);
  spawn.name = "Ann";
  spawn.fields = Bytes(9, std::byte{1});
  spawn.entity.generation = 65'535;
  EXPECT_EQ(read(section_of({spawn})), Entries{spawn});
  // Values that follow are not in the entry, even if the object has some.
  Spawn follows = spawn;
  follows.values_follow = true;
  Spawn without_values = follows;
  without_values.fields.clear();
  EXPECT_EQ(read(section_of({follows})), Entries{without_values});
  // A short-lived entity has no name.
  Spawn brief = spawn;
  brief.short_lived.emplace();
  Spawn without_name = brief;
  without_name.name.clear();
  EXPECT_EQ(read(section_of({brief})), Entries{without_name});
}

TEST(Spawns, EntryThatDoesNotFitWritesNothing) {
  const Entries entries = random_entries(3, 12, 500);
  for (std::size_t limit_bits = 1; limit_bits < 3000; limit_bits += 7) {
    Bytes buffer(4096);
    BitWriter writer{buffer};
    SpawnsWriter section;
    Entries written;
    for (const SpawnEntry& entry : entries) {
      const std::size_t before = writer.bits_written();
      if (section.add(writer, entry, limit_bits)) {
        written.push_back(entry);
        ASSERT_GT(writer.bits_written(), before);
      } else {
        ASSERT_EQ(writer.bits_written(), before);
      }
    }
    section.finish(writer);
    ASSERT_FALSE(writer.overflowed());
    ASSERT_LE(writer.bits_written(), limit_bits);
    const auto bytes = writer.finish();
    if (written.empty()) {
      ASSERT_TRUE(bytes.empty());
    } else {
      ASSERT_EQ(read(bytes, 500), written) << limit_bits;
    }
  }
}

// The limit includes the end of the section.
TEST(Spawns, LimitIsExact) {
  const SpawnEntry entry = spawn_of(5, 2);
  const std::size_t bits = bits_of({entry}) + SpawnsWriter::kEndBits;
  for (const std::size_t limit_bits : {bits - 1, bits}) {
    Bytes buffer(200);
    BitWriter writer{buffer};
    EXPECT_EQ(SpawnsWriter{}.add(writer, entry, limit_bits), limit_bits == bits);
  }
}

TEST(Spawns, SectionBeginsAtAnyBit) {
  const Entries entries = random_entries(4, 5, 500);
  for (unsigned at = 0; at < 16; ++at) {
    Bytes buffer(4096);
    BitWriter writer{buffer};
    writer.write((1u << at) - 1, at);
    SpawnsWriter section;
    for (const SpawnEntry& entry : entries)
      ASSERT_TRUE(section.add(writer, entry, buffer.size() * 8));
    section.finish(writer);
    writer.write(0x5a, 8);
    BitReader reader{writer.finish()};
    (void)reader.read(at);
    Entries back;
    read_spawns(reader, 500, back);
    EXPECT_EQ(back, entries);
    EXPECT_EQ(reader.read(8), 0x5au);
    EXPECT_TRUE(reader.finished());
  }
}

TEST(Spawns, EmptySectionFails) {
  Bytes buffer(8);
  BitWriter writer{buffer};
  SpawnsWriter section;
  section.finish(writer);
  EXPECT_EQ(writer.bits_written(), 0u);
  const Bytes end(1, std::byte{0});
  BitReader reader{end};
  Entries entries{PredictionRefusal{1}};
  read_spawns(reader, 1, entries);
  EXPECT_TRUE(reader.failed());
  EXPECT_TRUE(entries.empty());
}

TEST(Spawns, TruncatedSectionsFail) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Bytes bytes = section_of(random_entries(seed, 1 + seed % 6, 500));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_FALSE(read(std::span{bytes}.first(size), 500)) << seed << " cut at " << size;
  }
}

// Damaged bytes fail, or are entries that can be written again.
TEST(Spawns, DamagedSectionsAreReadSafely) {
  int good = 0, bad = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Bytes bytes = section_of(random_entries(seed, 1 + seed % 6, 500));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      Bytes damaged = bytes;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      const auto entries = read(damaged, 500);
      ++(entries ? good : bad);
      if (!entries) continue;
      for (const SpawnEntry& entry : *entries) {
        if (const auto* spawn = std::get_if<Spawn>(&entry)) {
          ASSERT_GT(spawn->number, 0u);
          ASSERT_TRUE(spawn->entity && spawn->entity.slot() < kMaxEntities);
          ASSERT_LE(spawn->fields.size(), kMaxSpawnContentBytes);
        } else if (const auto* end = std::get_if<Despawn>(&entry)) {
          ASSERT_GT(end->number, 0u);
          ASSERT_TRUE(end->entity && end->entity.slot() < kMaxEntities);
        }
      }
      ASSERT_EQ(read(section_of(*entries), 500), *entries);
    }
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

TEST(Spawns, RandomBitsAreReadSafely) {
  scenario::Random random{6};
  for (int i = 0; i < 5000; ++i) {
    Bytes bytes(1 + random.below(300));
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(random.next());
    const auto entries = read(bytes, 77);
    ASSERT_TRUE(!entries || !entries->empty());
  }
}

// Writes a section by hand, for values that SpawnsWriter does not write.
class ByHand {
 public:
  ByHand& write(std::uint64_t value, unsigned bits) {
    writer_.write(value, bits);
    return *this;
  }
  ByHand& golomb(std::uint64_t value, unsigned k) {
    const std::uint64_t shifted = value + (std::uint64_t{1} << k);
    unsigned prefix = 0;
    while (shifted >> (prefix + k + 1) != 0)
      ++prefix;
    writer_.write((std::uint64_t{1} << prefix) - 1, prefix + 1);
    writer_.write(shifted - (std::uint64_t{1} << (prefix + k)), prefix + k);
    return *this;
  }
  ByHand& kind(unsigned number) { return write(1, 1).write(number, 2); }
  // A despawn after its number.
  ByHand& rest_of_despawn(bool follows, std::uint32_t slot, std::uint32_t generation = 0) {
    write(follows ? 1 : 0, 1);
    if (!follows) write(slot, 20);
    return golomb(generation, 4).golomb(0, 2).write(0, 1);
  }
  [[nodiscard]] bool is_good(std::uint32_t near = 1) {
    writer_.write(0, 1);
    return read(writer_.finish(), near).has_value();
  }

 private:
  Bytes buffer_ = Bytes(400);
  BitWriter writer_{buffer_};
};

TEST(Spawns, InvalidValuesFail) {
  // Number 0 and numbers above 32 bits.
  EXPECT_TRUE(ByHand{}.kind(1).golomb(1, 12).rest_of_despawn(false, 4).is_good());
  EXPECT_FALSE(ByHand{}.kind(1).golomb(0, 12).rest_of_despawn(false, 4).is_good());
  EXPECT_TRUE(ByHand{}.kind(1).golomb(UINT32_MAX, 12).rest_of_despawn(false, 4).is_good());
  EXPECT_FALSE(
      ByHand{}.kind(1).golomb(std::uint64_t{UINT32_MAX} + 1, 12).rest_of_despawn(false, 4).is_good());
  const auto second = [](std::uint64_t first, std::uint64_t folded) {
    return ByHand{}
        .kind(1)
        .golomb(first, 12)
        .rest_of_despawn(false, 4)
        .kind(1)
        .golomb(folded, 4)
        .rest_of_despawn(true, 0)
        .is_good();
  };
  EXPECT_TRUE(second(3, 0));                // 4
  EXPECT_TRUE(second(3, 5));                // 1
  EXPECT_FALSE(second(3, 7));               // 0
  EXPECT_FALSE(second(3, 9));               // -1
  EXPECT_TRUE(second(UINT32_MAX - 1, 0));   // the largest
  EXPECT_FALSE(second(UINT32_MAX - 1, 2));  // one more
  EXPECT_FALSE(second(UINT32_MAX, UINT32_MAX - 1u));
  // A spawn whose number would be before the first.
  Bytes spawn = section_of({spawn_of(1, 3)});
  EXPECT_TRUE(read(spawn, 1));
  for (const std::uint32_t low : {0u, 65'535u, 40'000u}) {
    Bytes bytes = section_of({spawn_of(65'536 + low, 3)});
    EXPECT_FALSE(read(bytes, 1)) << low;
    EXPECT_TRUE(read(bytes, 65'536)) << low;
  }
  // Slots.
  EXPECT_TRUE(ByHand{}.kind(1).golomb(1, 12).rest_of_despawn(true, 0).is_good());  // slot 0
  const auto behind = [](std::uint32_t slot) {
    return ByHand{}
        .kind(1)
        .golomb(1, 12)
        .rest_of_despawn(false, slot)
        .kind(1)
        .golomb(0, 4)
        .rest_of_despawn(true, 0)
        .is_good();
  };
  EXPECT_TRUE(behind(kMaxEntities - 2));
  EXPECT_FALSE(behind(kMaxEntities - 1));
  // Generations.
  EXPECT_TRUE(ByHand{}.kind(1).golomb(1, 12).rest_of_despawn(false, 4, UINT16_MAX).is_good());
  EXPECT_FALSE(ByHand{}.kind(1).golomb(1, 12).rest_of_despawn(false, 4, UINT16_MAX + 1u).is_good());
  // Kinds.
  EXPECT_TRUE(ByHand{}.kind(2).write(9, 32).is_good());
  EXPECT_FALSE(ByHand{}.kind(3).write(9, 32).is_good());
}

TEST(Spawns, SlotsFollowSpawnsAndDespawns) {
  const Entries entries{Despawn{9, {8, 2}, 0, {}},    spawn_of(12, 8), PredictionRefusal{1},
                        Despawn{10, {10, 70}, 0, {}}, spawn_of(13, 4), Despawn{11, {6, 0}, 3, 4}};
  EXPECT_EQ(read(section_of(entries), 12), entries);
}

}  // namespace
}  // namespace reckoner
