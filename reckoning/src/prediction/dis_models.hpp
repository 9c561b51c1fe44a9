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

/// The dead reckoning models of DIS (IEEE 1278.1, annex on dead reckoning), with the numbers they have on the
/// wire. The letters: rotation F(ixed) or R(otating); constant rate of P(osition), that is constant velocity,
/// or of V(elocity), constant acceleration; in W(orld) or B(ody) axes.
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

/// "static", "fpw" ... "fvb".
[[nodiscard]] RECKONER_RECKONING_API std::string_view name_of(DeadReckoningModel model);
[[nodiscard]] RECKONER_RECKONING_API std::optional<DeadReckoningModel> dead_reckoning_model(
    std::string_view name);

/// DIS's Euler angles, rad: the body is turned by psi about z, then theta about its y, then phi about its x
/// axis: body to world = Rz(psi) Ry(theta) Rx(phi).
struct EulerAngles {
  double psi = 0.0;    ///< -pi to pi
  double theta = 0.0;  ///< -pi/2 to pi/2
  double phi = 0.0;    ///< -pi to pi
};
[[nodiscard]] RECKONER_RECKONING_API glm::dquat orientation_of(const EulerAngles& angles);
/// q must be unit. Where theta is +-pi/2 only psi -+ phi is defined: phi is 0 then.
[[nodiscard]] RECKONER_RECKONING_API EulerAngles euler_angles_of(const glm::dquat& q);

/// What an entity state PDU has, SI units. Its axes depend on the model: velocity and acceleration are in
/// body axes for the B models, in world axes for the others; angular velocity is always about the body axes.
/// In body axes acceleration is the rate at which the body components of velocity change (A_b = dV_b/dt), as
/// DIS has it.
struct DisState {
  glm::dvec3 position{0.0};                    ///< m, world
  glm::dvec3 velocity{0.0};                    ///< m/s
  glm::dvec3 acceleration{0.0};                ///< m/s^2
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< body to world, unit
  glm::dvec3 angular_velocity{0.0};            ///< rad/s, body axes
};

/// `state`, `dt_s` seconds later (or earlier), in the same axes. Closed form, so that an hour is as exact as
/// a frame, and steps may be taken in any size: two in a row are one of their sum. A model ignores the fields
/// it does not use and hands them on as they are. The orientation comes out unit; a zero one is taken for no
/// rotation.
[[nodiscard]] RECKONER_RECKONING_API DisState extrapolate(DeadReckoningModel model, const DisState& state,
                                                          double dt_s);

/// The state as Reckoner has it: world axes, and zero in what the model does not use, so that velocity,
/// acceleration and angular velocity are those of the motion the model makes. A B model that rotates has its
/// velocity turned with it: acceleration = R (A_b + w x V_b).
[[nodiscard]] RECKONER_RECKONING_API State to_state(DeadReckoningModel model, const DisState& state);

/// Both: where `model` takes `state` in `dt_s` seconds. A motion model beside the quadratic.
[[nodiscard]] RECKONER_RECKONING_API State dead_reckon(DeadReckoningModel model, const DisState& state,
                                                       double dt_s);

/// DIS's [R1] v and [R2] a: displacement in the initial body axes of a body that turns at the constant rate w
/// (rad/s, body axes) for t seconds while its velocity in body axes is v, or grows by a:
///   R1 = integral of exp([w]x s) ds, R2 = integral of s exp([w]x s) ds, s from 0 to t.
/// Written as t I + c1 [w]x + c2 [w]x^2 with series for c1, c2 at small angles.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 dis_r1(const glm::dvec3& w, double t, const glm::dvec3& v);
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 dis_r2(const glm::dvec3& w, double t, const glm::dvec3& a);

}  // namespace reckoner
