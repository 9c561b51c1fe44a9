// SPDX-License-Identifier: MIT
#pragma once

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Rotations as rotation vectors (axis times angle, rad), and the Jacobians that convert their rates to
/// angular velocities. Double precision, with series near zero. Formulas: J. Solà, "A micro Lie theory for
/// state estimation in robotics" (2018), eqs. 132-147.

/// The unit quaternion that rotates by |r| rad about r.
[[nodiscard]] RECKONER_RECKONING_API glm::dquat rotation_exp(const glm::dvec3& r);

/// The shortest rotation vector r of q (|r| <= pi). It is the same for q and -q. q must be a unit quaternion.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 rotation_log(const glm::dquat& q);

/// The angular velocity (rad/s, world axes) of exp(r(t)) when r changes at the rate r_dot: the left Jacobian
/// times r_dot.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 rotation_rate_to_angular_velocity(const glm::dvec3& r,
                                                                                  const glm::dvec3& r_dot);

/// The inverse of rotation_rate_to_angular_velocity(): the rate of r at which exp(r(t)) has the angular
/// velocity w. Valid for |r| < 2 pi.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 angular_velocity_to_rotation_rate(const glm::dvec3& r,
                                                                                  const glm::dvec3& w);

/// The orientation that has made the share `share` (0 to 1) of the shortest turn from one orientation to
/// another at a constant angular velocity (Shoemake 1985). Equal bits on every machine.
[[nodiscard]] RECKONER_RECKONING_API glm::quat slerp(const glm::quat& from, const glm::quat& to,
                                                     double share);

/// Angle between two orientations, rad, 0 to pi.
[[nodiscard]] RECKONER_RECKONING_API double angle_between(const glm::quat& a, const glm::quat& b);

}  // namespace reckoner
