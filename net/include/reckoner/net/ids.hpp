// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Server ticks since the server started. 32 bits last 2.2 years at 60 Hz.
using Tick = std::uint32_t;

/// True if tick `a` is before tick `b`. Correct across the wrap of the 32-bit counter, as long as the two
/// ticks are less than 2^31 apart.
[[nodiscard]] constexpr bool earlier(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

/// Rounds `ticks` down to whole ticks. Returns the first or last tick if the number is outside the range, and
/// 0 for NaN.
[[nodiscard]] constexpr Tick whole_ticks(double ticks) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  if (!(ticks > 0.0)) return 0;
  return ticks < kLast ? static_cast<Tick>(ticks) : kLast;
}

/// Identifies an entity. The server assigns slots; `index1` is the slot plus one, so that zero is null.
/// `generation` counts how often the slot was used, so that an old id never refers to a new entity in the
/// slot.
struct EntityId {
  std::uint32_t index1 = 0;      ///< slot number, counted from 1; 0: null
  std::uint16_t generation = 0;  ///< distinguishes the entity from earlier ones in the slot

  /// False if null.
  [[nodiscard]] explicit operator bool() const { return index1 != 0; }
  /// The slot number from 0, for use as an array index. Must not be null.
  [[nodiscard]] std::size_t slot() const { return index1 - 1; }
  /// Orders by slot, then by generation. The order has no meaning but is stable.
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

/// Maximum number of entity slots of a server.
inline constexpr std::uint32_t kMaxEntities = 1u << 20;

/// Converts between an entity and the frame that moves with it. A null id is the world's frame.
[[nodiscard]] constexpr FrameId frame_of(EntityId id) {
  return {to_number(id)};
}
[[nodiscard]] constexpr EntityId entity_of(FrameId frame) {
  return {static_cast<std::uint32_t>(frame.value), static_cast<std::uint16_t>(frame.value >> 32)};
}

/// Identifies a client on the server. Never reused during a server's life; zero is null.
struct ClientId {
  std::uint32_t value = 0;  ///< counted from 1 in order of joining; 0: null

  /// False if null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders by time of joining.
  auto operator<=>(const ClientId&) const = default;
};

/// Identifies the other end of a transport connection. Never reused during a transport's life; zero is null.
struct PeerId {
  std::uint32_t value = 0;  ///< assigned by the transport; 0: null

  /// False if null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// The order has no meaning but is stable.
  auto operator<=>(const PeerId&) const = default;
};

/// Identifies a route that the server registered. Assigned in order from 1 and never reused; zero is null.
struct RouteId {
  std::uint32_t value = 0;  ///< counted from 1 in the order of Server::add_route(); 0: null

  /// False if null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders by registration.
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
