// SPDX-License-Identifier: MIT
#include "net/src/messages/spawns.hpp"

#include "net/src/codec/motion_serialize.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <array>
#include <cassert>
#include <cstdint>
#include <variant>

namespace reckoner {
namespace {

constexpr unsigned kSpawnAgeOrder = 2;       // a few ticks if the first datagram was lost
constexpr unsigned kLifeOrder = 9;           // half a second at 60 Hz
constexpr unsigned kSpawnOrder = 0;          // most spawns have the number after that of the one before
constexpr unsigned kDespawnOrder = 4;        // entities end in about the order in which they spawned
constexpr unsigned kFirstDespawnOrder = 12;  // a session has some thousand spawns
constexpr unsigned kGenerationOrder = 4;     // a slot is seldom used again

using Before = SpawnsWriter::Before;

template <class Archive>
void accept_number(Archive& archive, std::uint32_t& number, std::int64_t whole) {
  if (whole < 1 || whole > UINT32_MAX) return archive.bits().fail();
  number = static_cast<std::uint32_t>(whole);
}

// The number as the difference to the one after `before`.
template <class Archive>
void serialize_difference(Archive& archive, std::uint32_t& number, std::uint32_t before, unsigned order) {
  auto difference = static_cast<std::int32_t>(number - before - 1);
  serialize_folded(archive, difference, order);
  if constexpr (Archive::is_loading::value)
    accept_number(archive, number, std::int64_t{before} + 1 + difference);
}

// The number of a spawn is near the numbers that the reader waits for. So 16 bits of the first one suffice.
template <class Archive>
void serialize_spawn_number(Archive& archive, std::uint32_t& number, Before& before) {
  if (before.spawn) {
    serialize_difference(archive, number, *before.spawn, kSpawnOrder);
  } else {
    auto low = static_cast<std::uint16_t>(number);
    archive(low);
    if constexpr (Archive::is_loading::value) {
      const auto offset = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - before.near));
      accept_number(archive, number, std::int64_t{before.near} + offset);
    }
  }
  before.spawn = number;
}

// An entity may end long after its spawn. So the first number is whole.
template <class Archive>
void serialize_despawn_number(Archive& archive, std::uint32_t& number, Before& before) {
  if (before.despawn) {
    serialize_difference(archive, number, *before.despawn, kDespawnOrder);
  } else {
    archive(wire::golomb(number, kFirstDespawnOrder));
    if constexpr (Archive::is_loading::value) accept_number(archive, number, number);
  }
  before.despawn = number;
}

// The entities that spawn in one tick often have slots in a row.
template <class Archive>
void serialize_entity(Archive& archive, EntityId& entity, Before& before) {
  bool follows = entity.index1 == before.index1 + 1;
  archive(follows);
  if (!follows) {
    archive(wire::ranged(entity.index1, 1, kMaxEntities));
  } else if constexpr (Archive::is_loading::value) {
    entity.index1 = before.index1 + 1;
    if (entity.index1 > kMaxEntities) return archive.bits().fail();
  }
  std::uint32_t generation = entity.generation;
  archive(wire::golomb(generation, kGenerationOrder));
  if constexpr (Archive::is_loading::value) {
    if (generation > UINT16_MAX) return archive.bits().fail();
    entity.generation = static_cast<std::uint16_t>(generation);
  }
  before.index1 = entity.index1;
}

template <class Archive, class T, class Write>
void serialize_optional(Archive& archive, std::optional<T>& part, Write&& write) {
  bool present = part.has_value();
  archive(present);
  if (present && !part) part.emplace();
  if (present) write(*part);
}

template <class Archive>
void serialize_entry(Archive& archive, Spawn& s, Before& before) {
  serialize_spawn_number(archive, s.number, before);
  serialize_entity(archive, s.entity, before);
  archive(s.archetype, wire::ranged(s.level, 0, UpdateHeader::kLevels - 1),
          wire::ranged(s.orientation_bits, 0, 15), wire::golomb(s.age, kSpawnAgeOrder));
  serialize_state(archive, s.state, s.orientation_bits);
  serialize_optional(archive, s.short_lived, [&](Spawn::ShortLife& l) {
    serialize_optional(archive, l.life,
                       [&](std::uint32_t& life) { archive(wire::golomb(life, kLifeOrder)); });
    serialize_optional(archive, l.prediction, [&](std::uint32_t& key) { archive(key); });
    archive(wire::bytes(l.data, kMaxSpawnDataBytes));
  });
  if (!s.short_lived) archive(wire::text(s.name, kMaxNameBytes));
  archive(s.values_follow);
  if (!s.values_follow) archive(wire::bytes(s.fields, kMaxSpawnContentBytes));
}

template <class Archive>
void serialize_entry(Archive& archive, Despawn& d, Before& before) {
  serialize_despawn_number(archive, d.number, before);
  serialize_entity(archive, d.entity, before);
  archive(wire::golomb(d.age, kSpawnAgeOrder));
  serialize_optional(archive, d.after_messages, [&](std::uint16_t& count) { archive(count); });
}

template <class Archive>
void serialize_entry(Archive& archive, PredictionRefusal& r, Before&) {
  archive(r.key);
}

constexpr auto kLastKind = static_cast<int>(std::variant_size_v<SpawnEntry> - 1);

}  // namespace

bool SpawnsWriter::add(BitWriter& writer, const SpawnEntry& entry, std::size_t limit_bits) {
  std::array<std::byte, kMaxEntryBytes> buffer;
  BitWriter scratch{buffer};
  wire::BitOutputArchive archive{scratch};
  Before before = before_;
  bool more = true;
  auto kind = static_cast<std::uint8_t>(entry.index());
  archive(more, wire::ranged(kind, 0, kLastKind));
  std::visit([&](auto copy) { serialize_entry(archive, copy, before); }, entry);
  assert(!scratch.overflowed());
  const std::size_t bits = scratch.bits_written();
  if (writer.bits_written() + bits + kEndBits > limit_bits) return false;
  writer.append(scratch.finish(), bits);
  before_ = before;
  any_ = true;
  return true;
}

void SpawnsWriter::finish(BitWriter& writer) {
  if (any_) writer.write(0, kEndBits);
}

void read_spawns(BitReader& reader, std::uint32_t near, std::vector<SpawnEntry>& entries) {
  entries.clear();
  wire::BitInputArchive archive{reader};
  Before before{.near = near};
  for (bool more = true; archive(more), more && !reader.failed();) {
    std::uint8_t kind = 0;
    archive(wire::ranged(kind, 0, kLastKind));
    SpawnEntry& entry = entries.emplace_back();
    if (kind == 1) entry.emplace<Despawn>();
    if (kind == 2) entry.emplace<PredictionRefusal>();
    std::visit([&](auto& e) { serialize_entry(archive, e, before); }, entry);
  }
  if (entries.empty()) reader.fail();
}

}  // namespace reckoner
