// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// What the bits of a server's datagrams contain. The first kEntityContents kinds belong to an entity.
enum class SentContent : std::uint8_t {
  full_motion,       ///< a motion that refers to no earlier motion
  residual_motion,   ///< a motion as the difference to an earlier motion that the client has
  route_motion,      ///< a motion along a route
  spawn,             ///< an entity's name, archetype, first motion and field values
  field,             ///< changed values of user fields
  end,               ///< the end of an entity for a client
  message,           ///< unreliable messages of the game
  reliable_message,  ///< the stream of reliable messages: the game's, routes, changes of ownership
  header,      ///< heads of datagrams, acknowledgements, refused predictions, marks between sections, padding
  prediction,  ///< reports about inputs, and corrections of predicted entities
};
inline constexpr std::size_t kEntityContents = 5;  ///< the kinds up to SentContent::field
inline constexpr std::size_t kContents = 10;       ///< all kinds

/// The name of a kind of content, for reports: the name of the enumerator. Valid forever.
[[nodiscard]] RECKONER_SERVER_API std::string_view name_of(SentContent content);

/// How much of one thing a server has sent.
struct SentAmount {
  /// Number of motions, spawns, field values, ends, unreliable messages, datagrams with parts of the stream
  /// of reliable messages (SentContent::reliable_message), or datagrams (SentContent::header).
  std::uint64_t count = 0;
  std::uint64_t bits = 0;  ///< their size in datagrams, bits

  /// Adds a number of things and their size.
  void add(std::uint64_t added_count, std::uint64_t added_bits) {
    count += added_count;
    bits += added_bits;
  }
  /// Adds the numbers of `other`.
  SentAmount& operator+=(const SentAmount& other) {
    add(other.count, other.bits);
    return *this;
  }
  /// True if both numbers are equal.
  bool operator==(const SentAmount&) const = default;
};

/// What the entities of one archetype have cost, including entities that have ended.
struct ArchetypeTraffic {
  std::array<SentAmount, kEntityContents> by_content{};  ///< index: SentContent, up to SentContent::field
  /// Index: field, as in Archetype::fields. The changed values alone. Values in spawns count as
  /// SentContent::spawn.
  std::vector<SentAmount> fields;
  /// What changes need beside the values: which entity, which of its fields, and when they changed. The count
  /// is the number of entities. field_heads.bits and the bits of all `fields` add up to the bits of
  /// SentContent::field.
  SentAmount field_heads;

  /// Bits of all kinds of content.
  [[nodiscard]] std::uint64_t bits() const {
    std::uint64_t sum = 0;
    for (const SentAmount& amount : by_content)
      sum += amount.bits;
    return sum;
  }
};

/// What a server has sent to all its clients since its creation, by content. Copies that repair losses count
/// like the first ones.
struct SentTraffic {
  /// Index: SentContent. The bits of all kinds add up to 8 * ServerStats::state_bytes_sent.
  std::array<SentAmount, kContents> by_content{};
  /// Index: archetype. The bits of all archetypes add up to the bits of the kinds up to SentContent::field.
  std::vector<ArchetypeTraffic> archetypes;

  /// Bits of all kinds of content.
  [[nodiscard]] std::uint64_t bits() const {
    std::uint64_t sum = 0;
    for (const SentAmount& amount : by_content)
      sum += amount.bits;
    return sum;
  }
};

/// What one entity has cost since its spawn, summed over all clients.
struct EntityTraffic {
  std::size_t archetype = 0;      ///< the entity's archetype
  std::uint64_t updates = 0;      ///< motions sent, without those in spawns
  std::uint64_t motion_bits = 0;  ///< size of these motions, bits
  std::uint64_t spawn_bits = 0;   ///< size of the entity's spawns, bits
  std::uint64_t field_bits = 0;   ///< size of the changes of its fields, bits

  /// Bits of everything together.
  [[nodiscard]] std::uint64_t bits() const { return motion_bits + spawn_bits + field_bits; }
};

/// Adds every number of `part` to `total`, for example to sum up several servers with equal archetypes in one
/// process.
RECKONER_SERVER_API SentTraffic& operator+=(SentTraffic& total, const SentTraffic& part);

}  // namespace reckoner
