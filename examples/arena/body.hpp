// SPDX-License-Identifier: MIT
#pragma once

#include "rules.hpp"

namespace arena {

/// What a player or a bot wants to do in a picture.
struct Controls {
  glm::dvec2 walk{0.0};  ///< direction in the world; longer than 1 counts as 1
  double aim_rad = 0.0;
  bool jump = false;
  bool dash = false;
};

/// How fast a body reaches the speed that it wants, m/s^2. Bots steer gently.
inline constexpr double kPlayerGripMps2 = 60.0, kBotGripMps2 = 12.0;

/// A fighter's body. Players move theirs on their own machines; the server moves those of the bots.
class Body {
 public:
  Body(const reckoner::State& state, double grip_mps2) : state_(state), grip_mps2_(grip_mps2) {}

  /// Moves by `step_s` with the present velocity, then lets the controls change the velocity. Each body is
  /// extrapolated with this velocity on other machines, so the two must agree.
  void step(const Controls& controls, double step_s, std::span<const Box> solids);
  /// If the body stands on a pad, puts it before the opposite one and returns true.
  bool use_pad();
  /// Goes on from another state, for example after a correction by the server.
  void continue_from(const reckoner::State& state) { state_ = state; }
  [[nodiscard]] const reckoner::State& state() const { return state_; }

 private:
  void stay_out(const Box& box);

  reckoner::State state_;
  double grip_mps2_;
  double dash_left_s_ = 0.0;
  double next_dash_s_ = 0.0;  // time until the next dash
};

}  // namespace arena
