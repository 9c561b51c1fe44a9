// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The dead reckoning models of DIS (IEEE 1278.1, annex on dead reckoning), with their wire numbers. The
/// first letter of a name is F for a fixed or R for a rotating orientation. The second letter is P for a
/// constant rate of the position (constant velocity), or V for a constant rate of the velocity (constant
/// acceleration). The third letter is W for world axes or B for body axes.
enum class DeadReckoningModel : std::uint8_t {
  kStatic = 1,
  kFpw = 2,
  kRpw = 3,
  kRvw = 4,
  kFvw = 5,
  kFpb = 6,
  kRpb = 7,
  kRvb = 8,
  kFvb = 9,
};

[[nodiscard]] constexpr bool uses_velocity(DeadReckoningModel m) {
  return m != DeadReckoningModel::kStatic;
}
[[nodiscard]] constexpr bool uses_acceleration(DeadReckoningModel m) {
  return m == DeadReckoningModel::kRvw || m == DeadReckoningModel::kFvw || m == DeadReckoningModel::kRvb ||
         m == DeadReckoningModel::kFvb;
}
[[nodiscard]] constexpr bool uses_angular_velocity(DeadReckoningModel m) {
  return m == DeadReckoningModel::kRpw || m == DeadReckoningModel::kRvw || m == DeadReckoningModel::kRpb ||
         m == DeadReckoningModel::kRvb;
}
[[nodiscard]] constexpr bool in_body_axes(DeadReckoningModel m) {
  return m >= DeadReckoningModel::kFpb;
}

/// The lower-case name of a model: "static", "fpw" ... "fvb".
[[nodiscard]] RECKONER_RECKONING_API std::string_view name_of(DeadReckoningModel model);
[[nodiscard]] RECKONER_RECKONING_API std::optional<DeadReckoningModel> dead_reckoning_model(
    std::string_view name);

/// The Euler angles of DIS, rad. The body is rotated by psi about z, then by theta about its y axis, then by
/// phi about its x axis: body to world = Rz(psi) Ry(theta) Rx(phi).
struct EulerAngles {
  double psi = 0.0;    ///< -pi to pi
  double theta = 0.0;  ///< -pi/2 to pi/2
  double phi = 0.0;    ///< -pi to pi
};
[[nodiscard]] RECKONER_RECKONING_API glm::dquat orientation_of(const EulerAngles& angles);
/// q must be a unit quaternion. If theta is +-pi/2, only psi -+ phi is defined; then phi is 0.
[[nodiscard]] RECKONER_RECKONING_API EulerAngles euler_angles_of(const glm::dquat& q);

/// The state in an entity state PDU, in SI units. The axes depend on the model. Velocity and acceleration are
/// in body axes for the B models and in world axes for the others. Angular velocity is always about the body
/// axes. Acceleration in body axes is the rate of change of the body components of velocity (A_b = dV_b/dt),
/// as defined by DIS.
struct DisState {
  glm::dvec3 position{0.0};                    ///< m, world
  glm::dvec3 velocity{0.0};                    ///< m/s
  glm::dvec3 acceleration{0.0};                ///< m/s^2
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< body to world, unit
  glm::dvec3 angular_velocity{0.0};            ///< rad/s, body axes
};

/// The state `dt_s` seconds after `state`, or before it if `dt_s` is negative, in the same axes. The result
/// is computed in closed form. So it is as exact after an hour as after a frame, and two steps give the same
/// result as one step over both times. Fields that the model does not use are returned unchanged. The
/// orientation is normalised; a zero quaternion counts as no rotation.
[[nodiscard]] RECKONER_RECKONING_API DisState extrapolate(DeadReckoningModel model, const DisState& state,
                                                          double dt_s);

/// Converts to a Reckoner state. The result is in world axes. Fields that the model does not use are zero, so
/// the derivatives describe the motion that the model assumes. For a rotating B model the velocity rotates
/// with the body: acceleration = R (A_b + w x V_b).
[[nodiscard]] RECKONER_RECKONING_API State to_state(DeadReckoningModel model, const DisState& state);

/// Extrapolates `state` by `dt_s` seconds with `model` and converts the result with to_state(). It is an
/// alternative to quadratic motion.
[[nodiscard]] RECKONER_RECKONING_API State dead_reckon(DeadReckoningModel model, const DisState& state,
                                                       double dt_s);

/// The products [R1] v and [R2] a of DIS: the displacement, in the initial body axes, of a body that rotates
/// at the constant rate w (rad/s, body axes) for t seconds. For R1 the body's velocity in body axes is v. For
/// R2 its velocity in body axes grows from zero at the rate a:
///   R1 = integral of exp([w]x s) ds, R2 = integral of s exp([w]x s) ds, s from 0 to t.
/// Both are computed as a multiple of the unit matrix plus c1 [w]x + c2 [w]x^2. At small angles, c1 and c2
/// are computed by series.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 dis_r1(const glm::dvec3& w, double t, const glm::dvec3& v);
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 dis_r2(const glm::dvec3& w, double t, const glm::dvec3& a);

}  // namespace reckoner
