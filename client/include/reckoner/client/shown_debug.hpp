// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// What a client shows of an entity and what it shows it from, side by side: to be drawn over the game, or
/// watched. Plain data; nothing in it is drawn by Reckoner. Both states are in the world, counted from the
/// client's origin, per second of shown time.
struct ShownDebug {
  EntityId id;   ///< which one it is
  State shown;   ///< what is drawn
  State motion;  ///< where the motions that are known have it at the same instant, without the blend
  double shown_time_s = 0.0;   ///< that instant of server time
  double motion_time_s = 0.0;  ///< time stamp of the newest motion, server time
  double age_s = 0.0;          ///< present server time minus that
  double blend_m = 0.0;        ///< how far the blend still holds it off the motion
  double blend_rad = 0.0;      ///< the same of its orientation
  double blend_left_s = 0.0;   ///< until nothing is left of that; 0: no blend is under way
  /// The archetype's, as the server said at the welcome: what is shown is off by no more while the link is
  /// faster than its motion changes, and it is followed at full detail.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< rad
  bool fading = false;         ///< nobody vouches for its motion any more: it fades to rest
  bool owned = false;          ///< by this client
  EntityId frame{};            ///< whose frame it lives in; null: the world
};

}  // namespace reckoner
