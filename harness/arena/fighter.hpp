// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/random.hpp"

#include <cstdint>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

inline constexpr double kArenaHalfSideM =
    20.0;                                 ///< the arena is a square around the origin; its walls stop shots
inline constexpr double kDashMps = 14.0;  ///< horizontal speed of a dash, the highest one

/// How a Fighter moves.
enum class FighterStyle : std::uint8_t {
  acrobat,  ///< walks, turns, stops, dashes and jumps in the arena
  rider,    ///< stands on a platform of 6 by 6 m, and sometimes starts to walk in an instant
};

/// A body that moves as the characters of an arena game do: its velocity changes in an instant. Deterministic
/// for a seed, a number and a sequence of steps.
class Fighter {
 public:
  Fighter(FighterStyle style, std::uint64_t seed, std::uint64_t number);

  /// Advances by `step_s` with the velocity and the acceleration of state(), then chooses the next ones.
  void step(double step_s);
  /// Continues from another state: after a teleport, or after a correction by the server.
  void continue_from(const State& state);
  [[nodiscard]] const State& state() const { return state_; }

 private:
  void choose_activity();
  void steer(double step_s);

  FighterStyle style_;
  scenario::Random random_;
  State state_;
  double heading_ = 0.0;   // rad
  double turn_rps_ = 0.0;  // rad/s
  double speed_mps_ = 0.0;
  double left_s_ = 0.0;  // of the present activity
};

}  // namespace reckoner::harness
