// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// An entity as a client was showing it.
struct SeenPose {
  EntityId entity;  ///< which one it is
  Pose pose;        ///< in the world, from the server's origin
};

}  // namespace reckoner
