// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// Decides to which clients an entity is relevant.
enum class Relevance : std::uint8_t {
  by_distance,  ///< relevant to clients that are near enough, see InterestConfig
  always,       ///< relevant to all clients, for example a ball or a flag
  never,        ///< relevant to no client
};

/// The bit mask that contains all groups. Every entity and every client has a bit mask of groups, for example
/// teams, storeys of a building or separate worlds. A client sees only entities that share a group with the
/// client, at any distance.
inline constexpr std::uint32_t kAllGroups = 0xffffffffu;

}  // namespace reckoner
