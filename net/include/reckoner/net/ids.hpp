// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Number of a server tick, counted from the server's start. At 60 Hz, the 32-bit counter wraps after 2.2
/// years.
using Tick = std::uint32_t;

/// Returns true if tick `a` is before tick `b`. The result is correct even if the 32-bit counter wraps
/// between them. The two ticks must be less than 2^31 ticks apart.
[[nodiscard]] constexpr bool earlier(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

/// Rounds `ticks` down to a whole number. Returns 0 for NaN and for negative numbers. Returns the largest
/// Tick if the number is too large.
[[nodiscard]] constexpr Tick whole_ticks(double ticks) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  if (!(ticks > 0.0)) return 0;
  return ticks < kLast ? static_cast<Tick>(ticks) : kLast;
}

/// Identifies an entity. The server assigns slots; `index1` is the slot plus one, so that zero is null.
/// `generation` counts how often the slot was used. Therefore, the id of a removed entity does not refer to a
/// later entity in that slot.
struct EntityId {
  std::uint32_t index1 = 0;      ///< slot number, counted from 1; 0: null
  std::uint16_t generation = 0;  ///< distinguishes the entity from earlier entities in the slot

  /// Returns false if the id is null.
  [[nodiscard]] explicit operator bool() const { return index1 != 0; }
  /// Returns the slot number, counted from 0, which can be an array index. The id must not be null.
  [[nodiscard]] std::size_t slot() const { return index1 - 1; }
  /// Orders ids by slot, then by generation, for use in sorted containers.
  auto operator<=>(const EntityId&) const = default;
};

/// Converts an id to one number, for messages and for the tables of an engine. 0 if it is null.
[[nodiscard]] constexpr std::uint64_t to_number(EntityId id) {
  return (std::uint64_t{id.generation} << 32) | id.index1;
}
/// The id of a number that to_number() returned. Null for every number that no id has; numbers from the
/// network need no other check.
[[nodiscard]] constexpr EntityId entity_id_of(std::uint64_t number) {
  const EntityId id{static_cast<std::uint32_t>(number), static_cast<std::uint16_t>(number >> 32)};
  return to_number(id) == number && id.index1 != 0 ? id : EntityId{};
}

/// Maximum number of entity slots on a server.
inline constexpr std::uint32_t kMaxEntities = 1u << 20;

/// Converts between an entity's id and the id of the frame that moves with this entity. The null id
/// corresponds to the world's frame.
[[nodiscard]] constexpr FrameId frame_of(EntityId id) {
  return {to_number(id)};
}
[[nodiscard]] constexpr EntityId entity_of(FrameId frame) {
  return {static_cast<std::uint32_t>(frame.value), static_cast<std::uint16_t>(frame.value >> 32)};
}

/// Identifies a client on the server. A running server never reuses an id. Zero is null.
struct ClientId {
  std::uint32_t value = 0;  ///< counted from 1 in order of joining; 0: null

  /// Returns false if the id is null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders ids by the time when the clients joined.
  auto operator<=>(const ClientId&) const = default;
};

/// Identifies the other end of a transport connection. A transport never reuses an id. Zero is null.
struct PeerId {
  std::uint32_t value = 0;  ///< assigned by the transport; 0: null

  /// Returns false if the id is null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders ids by number, for use in sorted containers.
  auto operator<=>(const PeerId&) const = default;
};

/// Identifies a route that the server registered. The server assigns numbers in order from 1 and never reuses
/// them. Zero is null.
struct RouteId {
  std::uint32_t value = 0;  ///< counted from 1 in the order of Server::add_route(); 0: null

  /// Returns false if the id is null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders ids by the time of registration.
  auto operator<=>(const RouteId&) const = default;
};

}  // namespace reckoner

/// Makes EntityId usable in unordered containers.
template <>
struct std::hash<reckoner::EntityId> {
  /// Hashes slot and generation.
  std::size_t operator()(const reckoner::EntityId& id) const noexcept {
    return std::hash<std::uint64_t>{}(reckoner::to_number(id));
  }
};
