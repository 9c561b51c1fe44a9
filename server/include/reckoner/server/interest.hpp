// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace reckoner {

/// Whom an entity concerns.
enum class Relevance : std::uint8_t {
  by_distance,  ///< whoever is near enough, see InterestConfig
  always,       ///< everybody: the ball, the flag
  never,        ///< nobody
};

/// Entities and clients carry a mask of groups; a client sees only entities that share a group with it
/// (teams, floors of a building, worlds side by side). Anything goes through this filter, whatever its
/// distance.
inline constexpr std::uint32_t kAllGroups = 0xffffffffu;

/// Who sees what, and how finely. Distances are from the client's eye (Server::set_view), in m.
struct InterestConfig {
  /// Entities up to here are shown; 0: all are, wherever they are. A client without an eye sees then only
  /// what is always relevant.
  double radius_m = 0.0;
  /// What is shown stays until it is this share further away, so that nothing flickers at the edge. The same
  /// for levels of detail.
  double hysteresis = 0.15;
  /// From these distances on the threshold is 4 and 16 times as large; 0: never. What is far looks small.
  std::array<double, 2> level_distance_m{0.0, 0.0};
  /// How often a client's interest are looked at again, s. What is spawned within them shows at once.
  double interval_s = 0.2;
};

}  // namespace reckoner
