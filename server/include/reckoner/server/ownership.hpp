// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// What becomes of a motion that an owner sends and that its entity cannot have made.
enum class OwnerPolicy : std::uint8_t {
  accept,   ///< it is shown all the same, as long as it lies in the world: the owner is trusted
  correct,  ///< the nearest that the entity can have made takes its place, and the owner is told
  refuse,   ///< it is not shown; the motion before goes on, and comes to rest
};

/// What becomes of an entity whose owner is gone.
enum class OwnerGone : std::uint8_t {
  rest,     ///< it comes to rest within half a second and belongs to the server
  despawn,  ///< it ends
};

/// What an entity that a client owns may do. Its archetype has the rest: top speed and size of the world.
struct OwnershipRules {
  OwnerPolicy policy = OwnerPolicy::correct;  ///< of motions that it cannot have made
  OwnerGone gone = OwnerGone::rest;           ///< what becomes of it when its owner is gone
  double max_acceleration_mps2 = 1000.0;      ///< a body that hits a wall at 10 m/s within a tick has 600
  double max_updates_per_s = 120.0;           ///< motions beyond are not looked at
  /// So far from the middle of a frame it may be when its owner has it enter that, m; 0: it enters none. Who
  /// is in a frame goes where that goes.
  double frame_reach_m = 100.0;
  double silence_s = 1.0;  ///< nothing heard from the owner for so long: the entity comes to rest, s
};

/// What a server counted of entities that clients own, since it was made.
struct OwnershipStats {
  std::uint64_t accepted = 0;    ///< motions
  std::uint64_t corrected = 0;   ///< they were beyond the limits: another took their place
  std::uint64_t refused = 0;     ///< beyond the limits, not shown
  std::uint64_t late = 0;        ///< older than a second, or than one that was taken in; harmless
  std::uint64_t ahead = 0;       ///< stamps from the future
  std::uint64_t too_many = 0;    ///< beyond max_updates_per_s
  std::uint64_t void_terms = 0;  ///< of entities that are not the client's, or not any more
};

}  // namespace reckoner
