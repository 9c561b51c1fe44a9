// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Position and orientation of an entity, in a right-handed coordinate system.
struct Pose {
  glm::dvec3 position{0.0};                       ///< m
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< body to world, unit
};

/// How an entity moves at one instant. Plain data. The default state is at rest at the origin, without
/// rotation.
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

/// Names a reference frame: the world (0), or an entity that moves and turns. Positions, velocities and
/// orientations are relative to a frame. The server assigns the numbers; this library only compares them.
struct FrameId {
  std::uint64_t value = 0;  ///< assigned by the server; 0 is the world

  /// True for any frame except the world.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// An arbitrary total order, for use as a key.
  auto operator<=>(const FrameId&) const = default;
};

/// The largest number of frames between an entity and the world. Four is enough for a hand on a turret on a
/// tank on a ship.
inline constexpr int kMaxFrameDepth = 4;

/// Converts a state out of a frame. `local` is relative to the frame. `frame` is the frame's own state,
/// relative to its parent frame (or the world). The result is relative to that parent.
///
///   p = P + Q l;  v = V + W x Q l + Q v_l;  a = A + W x (W x Q l) + 2 W x Q v_l + Q a_l
///   q = Q q_l;    w = W + Q w_l
///
/// P, V, A, Q, W are the frame's position, velocity, acceleration, orientation and angular velocity; l, v_l,
/// a_l, q_l, w_l are the same quantities of `local`. The formulas are rigid body kinematics with a constant
/// angular velocity of the frame, as in extrapolate(). Units as in State.
[[nodiscard]] RECKONER_RECKONING_API State out_of_frame(const State& frame, const State& local);

/// The inverse of out_of_frame(): `frame` and `outer` are both relative to the parent frame (or the world).
/// The result is `outer` relative to the frame.
[[nodiscard]] RECKONER_RECKONING_API State into_frame(const State& frame, const State& outer);

/// Converts a pose out of a frame: position and orientation only, without derivatives.
[[nodiscard]] RECKONER_RECKONING_API Pose out_of_frame(const Pose& frame, const Pose& local);
/// Converts a pose into a frame: the inverse of out_of_frame() for poses.
[[nodiscard]] RECKONER_RECKONING_API Pose into_frame(const Pose& frame, const Pose& outer);

}  // namespace reckoner
