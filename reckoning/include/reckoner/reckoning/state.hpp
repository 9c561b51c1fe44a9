// SPDX-License-Identifier: MIT
#pragma once

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Where a thing is and how it is turned. Metres, right-handed world; unit quaternion, body to world.
struct Pose {
  glm::dvec3 position{0.0};                       ///< m
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< body to world, unit
};

/// How a thing moves at one instant. Open data; every field has a value, so a default one is at rest at the
/// origin.
struct State {
  glm::dvec3 position{0.0};                       ///< m, world
  glm::vec3 velocity{0.0f};                       ///< m/s, world
  glm::vec3 acceleration{0.0f};                   ///< m/s^2, world
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< unit, body to world
  glm::vec3 angular_velocity{0.0f};               ///< rad/s about the world axes

  /// Without its derivatives.
  [[nodiscard]] Pose pose() const { return {position, orientation}; }
};

/// True if every number is finite and the orientation is a unit quaternion to 1 %. What comes from a network
/// or a file passes through here before anything computes with it.
[[nodiscard]] RECKONER_RECKONING_API bool is_sane(const State& state);

}  // namespace reckoner
