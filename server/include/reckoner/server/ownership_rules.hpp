// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// How the server handles a motion that is physically impossible for the entity. The motion came from the
/// client that owns the entity.
enum class OwnerPolicy : std::uint8_t {
  accept,   ///< trust the owner: accept the motion if it is inside the world
  correct,  ///< replace the motion by the nearest possible one and notify the owner
  refuse,   ///< ignore the motion; the entity continues its previous motion and comes to rest
};

/// What happens to an entity when its owner leaves.
enum class OwnerGone : std::uint8_t {
  rest,     ///< it comes to rest within half a second and belongs to the server
  despawn,  ///< it despawns
};

/// Limits of an entity that a client owns. The entity's archetype has two more limits: the top speed and the
/// size of the world.
struct OwnershipRules {
  OwnerPolicy policy = OwnerPolicy::correct;  ///< how impossible motions are handled
  OwnerGone gone = OwnerGone::rest;           ///< what happens when the owner leaves
  /// Largest acceleration, m/s^2. For example, a body that hits a wall at 10 m/s and stops within a tick of
  /// 1/60 s has 600 m/s^2.
  double max_acceleration_mps2 = 1000.0;
  double max_updates_per_s = 120.0;  ///< most motions per second; the server ignores motions above this rate
  /// The owner may move the entity into the frame of a boardable entity (Server::set_boardable()) only if the
  /// entity is at most this far from the frame's middle, m. An entity in a frame moves with it. 0: the owner
  /// may not change the frame.
  double frame_reach_m = 100.0;
  double silence_s = 1.0;  ///< the entity comes to rest if its owner is silent for this time, s
  /// The owner may declare teleports (Client::teleport()), for example a blink, over at most this distance,
  /// m. 0: it may not. With OwnerPolicy::accept it always may.
  double max_teleport_m = 0.0;
  double teleport_interval_s = 0.0;  ///< least time between two teleports that the owner declares, s
  /// A frame that turns moves the entity at most this fast, m/s, in addition to the entity's own speed. If
  /// the frame turns it faster, the entity leaves the frame. 0: the top speed of the entity's archetype. Does
  /// not apply with OwnerPolicy::accept.
  double max_turning_mps = 0.0;
};

}  // namespace reckoner
