// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The true state and the published state of an entity at the last tick, for debug drawing and monitoring.
/// This is plain data; Reckoner draws nothing.
///
/// Both states are in the world frame and relative to the server's origin. If the entity is in the frame of
/// another entity, both states are converted with the true state of that frame. So the difference of the two
/// states is the entity's own error.
struct EntityDebug {
  EntityId id;             ///< the entity
  State truth;             ///< the newest state from the game
  State published;         ///< the state of the published motion at the time of `truth`, without a blend
  double age_s = 0.0;      ///< the tick's time minus the time stamp of the published motion, s
  double error_m = 0.0;    ///< distance between `truth` and `published`, m
  double error_rad = 0.0;  ///< angle between the orientations of `truth` and `published`, rad
  /// The largest allowed error_m at present, m. It is the threshold of the archetype times the factor of the
  /// level (1, 4 or 16). An update budget, if there is one, scales it further.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< the largest allowed error_rad at present, rad
  /// The finest level of detail with subscribers; these values apply to this level.
  std::uint8_t level = 0;
  std::size_t clients = 0;  ///< number of clients that receive the entity, at any level
  EntityId frame{};         ///< the entity in whose frame it is; null: it is in the world frame
  bool on_route = false;    ///< true if the published motion is along a route
  bool owned = false;       ///< true if a client owns the entity
};

}  // namespace reckoner
