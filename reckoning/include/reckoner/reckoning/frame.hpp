// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// What a state is told in: the world (zero), or something that moves and turns. Whoever keeps the frames
/// gives out the numbers; here they are equal or not.
struct FrameId {
  std::uint64_t value = 0;  ///< given out by whoever keeps the frames; 0: the world

  /// False for the world.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Any order that stays.
  auto operator<=>(const FrameId&) const = default;
};

/// How many frames may lie between a thing and the world: a hand on a turret on a tank on a ship.
inline constexpr int kMostFrames = 4;

/// A state in a frame, seen from outside: in whatever `frame`, the state of the frame itself, is told in.
///
///   p = P + Q l;  v = V + W x Q l + Q v_l;  a = A + W x (W x Q l) + 2 W x Q v_l + Q a_l
///   q = Q q_l;    w = W + Q w_l
///
/// (P, V, A, Q, W of the frame; l, v_l, a_l, q_l, w_l in it: rigid body kinematics, the angular velocity of
/// the frame constant, as motions have it.) Units as State has them.
[[nodiscard]] RECKONER_RECKONING_API State out_of_frame(const State& frame, const State& local);

/// The inverse: a state told beside that of the frame, as it is seen in the frame.
[[nodiscard]] RECKONER_RECKONING_API State into_frame(const State& frame, const State& outer);

/// The same of poses.
[[nodiscard]] RECKONER_RECKONING_API Pose out_of_frame(const Pose& frame, const Pose& local);
[[nodiscard]] RECKONER_RECKONING_API Pose into_frame(const Pose& frame, const Pose& outer);

}  // namespace reckoner
