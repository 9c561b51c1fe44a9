// SPDX-License-Identifier: MIT
#pragma once

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Position and orientation of an entity, in a right-handed coordinate system.
struct Pose {
  glm::dvec3 position{0.0};                       ///< m
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< body to world, unit
};

/// How an entity moves at one instant. Plain data. The default is at rest at the origin, without rotation.
struct State {
  glm::dvec3 position{0.0};                       ///< m, world
  glm::vec3 velocity{0.0f};                       ///< m/s, world
  glm::vec3 acceleration{0.0f};                   ///< m/s^2, world
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< unit, body to world
  glm::vec3 angular_velocity{0.0f};               ///< rad/s about the world axes

  /// The position and orientation, without the derivatives.
  [[nodiscard]] Pose pose() const { return {position, orientation}; }
};

/// True if every number is finite and the orientation is a unit quaternion to within 1 %. Every state from a
/// network or a file must pass this check before any computation uses it.
[[nodiscard]] RECKONER_RECKONING_API bool is_sane(const State& state);

}  // namespace reckoner
