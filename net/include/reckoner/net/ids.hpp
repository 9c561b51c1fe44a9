// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include <reckoner/reckoning/frame.hpp>

namespace reckoner {

/// Server ticks since the server started. 32 bits last 2.2 years at 60 Hz.
using Tick = std::uint32_t;

/// So many ticks, whole ones only; the first or last tick for a number that lies outside, or is none.
[[nodiscard]] constexpr Tick whole_ticks(double ticks) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  if (!(ticks > 0.0)) return 0;
  return ticks < kLast ? static_cast<Tick>(ticks) : kLast;
}

/// An entity. The server gives out slots; `index1` is the slot plus one, so that zero is null, and
/// `generation` counts how often the slot was used, so that an id outlives its entity harmlessly.
struct EntityId {
  std::uint32_t index1 = 0;      ///< its slot, counted from 1; 0: none
  std::uint16_t generation = 0;  ///< tells it from those that had the slot before

  /// False for none.
  [[nodiscard]] explicit operator bool() const { return index1 != 0; }
  /// Its place in tables, from 0. Not of none.
  [[nodiscard]] std::size_t slot() const { return index1 - 1; }
  /// By slot, then generation: any order that stays.
  auto operator<=>(const EntityId&) const = default;
};

/// Slots that a server may give out.
inline constexpr std::uint32_t kMaxEntities = 1u << 20;

/// An entity as the frame that others live in; null for the world, and back.
[[nodiscard]] constexpr FrameId frame_of(EntityId id) {
  return {(std::uint64_t{id.generation} << 32) | id.index1};
}
[[nodiscard]] constexpr EntityId entity_of(FrameId frame) {
  return {static_cast<std::uint32_t>(frame.value), static_cast<std::uint16_t>(frame.value >> 32)};
}

/// A client as the server knows it. Never used twice in a server's life; zero is null.
struct ClientId {
  std::uint32_t value = 0;  ///< counted from 1 in order of joining; 0: none

  /// False for none.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// In order of joining.
  auto operator<=>(const ClientId&) const = default;
};

/// The other end of a transport connection. Never used twice in a transport's life; zero is null.
struct PeerId {
  std::uint32_t value = 0;  ///< the transport's own number; 0: none

  /// False for none.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Any order that stays.
  auto operator<=>(const PeerId&) const = default;
};

/// A route as the server registered it: given out in order from 1, never used twice; zero is null.
struct RouteId {
  std::uint32_t value = 0;  ///< counted from 1 in the order of Server::add_route(); 0: none

  /// False for none.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// In order of registration.
  auto operator<=>(const RouteId&) const = default;
};

}  // namespace reckoner

/// For unordered containers.
template <>
struct std::hash<reckoner::EntityId> {
  /// Of slot and generation.
  std::size_t operator()(const reckoner::EntityId& id) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{id.generation} << 32) | id.index1);
  }
};
