// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// An entity as a client was showing it.
struct SeenPose {
  EntityId entity;
  Pose pose;
};

}  // namespace reckoner
