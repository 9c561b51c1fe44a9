// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The section of spawns in a datagram from server to client: a set bit and the entry for each entry, and a
// clear bit after the last. An entry does not wait for other entries or messages. If the datagram is lost,
// the server sends the entry again.

/// An entity became visible to the client, or a newer motion of it follows before the client has acknowledged
/// the first.
struct Spawn {
  /// Number of the spawn, at least 1. The server counts the spawns that it writes for a client, from 1. If an
  /// entity becomes visible again, its spawn has another number.
  std::uint32_t number = 0;
  EntityId entity;                    ///< the entity
  std::uint8_t archetype = 0;         ///< index of its archetype
  std::uint8_t level = 0;             ///< level of detail of the motion
  std::uint8_t orientation_bits = 0;  ///< orientation bits of the archetype; must match the welcome message
  std::uint32_t age = 0;              ///< ticks from the motion's time stamp to the datagram's tick
  QuantisedState state;               ///< the motion

  /// The part of a spawn that only short-lived entities have.
  struct ShortLife {
    /// From the motion's time stamp to the end of the entity, in 1/kLifeSteps ticks; empty: not known yet.
    std::optional<std::uint32_t> life;
    /// The key of the receiving client's prediction that this entity fulfils; empty if there is none.
    std::optional<std::uint32_t> prediction;
    std::vector<std::byte> data;  ///< the game's bytes, at most kMaxSpawnDataBytes

    bool operator==(const ShortLife&) const = default;
  };
  static constexpr std::uint32_t kLifeSteps = 16;
  std::optional<ShortLife> short_lived;

  std::string name;  ///< at most kMaxNameBytes; empty for short-lived entities
  /// True if the values of the user fields follow in sections of fields, because there are too many for a
  /// datagram. The client must not show the entity before it has all of them.
  bool values_follow = false;
  std::vector<std::byte> fields;  ///< user fields in the format of write_values(), unless they follow

  bool operator==(const Spawn&) const = default;
};

/// An entity was removed, or is no longer visible to the client.
struct Despawn {
  std::uint32_t number = 0;  ///< number of the entity's spawn
  EntityId entity;           ///< the entity
  std::uint32_t age = 0;     ///< ticks from the first tick without the entity to the datagram's tick
  /// The number of reliable messages that the server sent before, low 16 bits: the client processes these
  /// first. Empty if it has confirmed them.
  std::optional<std::uint16_t> after_messages;

  bool operator==(const Despawn&) const = default;
};

/// The server does not spawn the entity that the client has predicted with this key.
struct PredictionRefusal {
  std::uint32_t key = 0;

  bool operator==(const PredictionRefusal&) const = default;
};

using SpawnEntry = std::variant<Spawn, Despawn, PredictionRefusal>;

/// Largest size of the name, the data and the fields of a spawn together, bytes, so that an entry leaves room
/// for motions in usual datagrams. In the smallest datagrams there may be less room; then the fields follow.
inline constexpr std::size_t kMaxSpawnContentBytes = 480;

/// Writes the entries of one section.
class RECKONER_NET_API SpawnsWriter {
 public:
  /// Upper bound of the size of an entry, bytes.
  static constexpr std::size_t kMaxEntryBytes = kMaxSpawnContentBytes + 400;
  static constexpr std::size_t kEndBits = 1;

  /// What the entries before had. The next entry is coded as the difference to it.
  struct Before {
    std::optional<std::uint32_t> spawn{};    ///< number of the last spawn; empty: there was none
    std::optional<std::uint32_t> despawn{};  ///< number of the last despawn; empty: there was none
    std::uint32_t index1 = 0;                ///< EntityId::index1 of the last entity
    std::uint32_t near = 0;                  ///< only for a reader: see read_spawns()
  };

  /// Writes the entry. Returns false and writes nothing if the section and its end would not fit into
  /// `limit_bits` bits of the writer.
  [[nodiscard]] bool add(BitWriter& writer, const SpawnEntry& entry, std::size_t limit_bits);
  /// True if there are no entries yet.
  [[nodiscard]] bool empty() const { return !any_; }
  /// Writes the end if there are entries.
  void finish(BitWriter& writer);

 private:
  Before before_;
  bool any_ = false;
};

/// Reads the whole section, including its end, into `entries`. The first spawn has 16 bits of its number on
/// the wire; `near` is any number that differs by less than 2^15. Malformed bytes and an empty section fail
/// the reader.
RECKONER_NET_API void read_spawns(BitReader& reader, std::uint32_t near, std::vector<SpawnEntry>& entries);

}  // namespace reckoner
