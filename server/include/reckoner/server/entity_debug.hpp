// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// What a server knows of an entity and what its clients do, side by side, as of the last tick: to be drawn
/// over the game, or watched. Plain data; nothing in it is drawn by Reckoner.
///
/// Both states are in the world, counted from the server's origin; of one that lives in the frame of another
/// both are carried there by the truth of that frame, so that what lies between them is its own error.
struct EntityDebug {
  EntityId id;             ///< which one it is
  State truth;             ///< as the game told it last
  State published;         ///< where the published motion has it at the same instant, before any blend
  double age_s = 0.0;      ///< the tick's time minus the time stamp of the published motion
  double error_m = 0.0;    ///< from truth to published
  double error_rad = 0.0;  ///< the angle between their orientations
  /// What is allowed of that at present: the archetype's thresholds times the level's factor (1, 4 or 16) and
  /// what a budget makes of it.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< rad
  std::uint8_t level = 0;      ///< the finest level of detail that somebody follows, which all this is about
  std::size_t clients = 0;     ///< that follow the entity, at whatever level
  EntityId frame{};            ///< whose frame it lives in; null: the world
  bool on_route = false;       ///< its motion runs along a route
  bool owned = false;          ///< a client says what it does
};

}  // namespace reckoner
