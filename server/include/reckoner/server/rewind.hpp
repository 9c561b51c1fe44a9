// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// An entity that a client was showing, and the pose at which it was shown.
struct SeenPose {
  EntityId entity;  ///< the entity
  Pose pose;        ///< pose in the world frame, relative to the server's origin
};

/// Whether the server can reconstruct what a client showed at some time (Server::rewind_status()).
enum class RewindStatus : std::uint8_t {
  known,        ///< pose_seen_by() and rewind() answer
  pending,      ///< it depends on a report of the client that is in flight; ask again after the next tick
  unavailable,  ///< it is unknown and stays so, or the time is outside ServerConfig::rewind_s
};

}  // namespace reckoner
