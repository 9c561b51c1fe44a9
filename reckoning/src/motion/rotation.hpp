// SPDX-License-Identifier: MIT
#pragma once

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Rotations as rotation vectors (axis times angle, rad) and the Jacobians that turn their rates into angular
/// velocities. Double precision; series near zero. Formulas: J. Solà, "A micro Lie theory for state
/// estimation in robotics" (2018), eqs. 132-147.

/// The unit quaternion that turns by |r| rad about r.
[[nodiscard]] RECKONER_RECKONING_API glm::dquat rotation_exp(const glm::dvec3& r);

/// The shortest rotation vector of q (|r| <= pi), whichever of q and -q is given. q must be unit.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 rotation_log(const glm::dquat& q);

/// Angular velocity (rad/s, world axes) of exp(r(t)) when r changes at rate r_dot: the left Jacobian times
/// it.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 rotation_rate_to_angular_velocity(const glm::dvec3& r,
                                                                                  const glm::dvec3& r_dot);

/// The inverse: the rate of r that gives exp(r(t)) the angular velocity w. Defined for |r| < 2 pi.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 angular_velocity_to_rotation_rate(const glm::dvec3& r,
                                                                                  const glm::dvec3& w);

/// Angle between two orientations, rad, 0 to pi.
[[nodiscard]] RECKONER_RECKONING_API double angle_between(const glm::quat& a, const glm::quat& b);

}  // namespace reckoner
