// SPDX-License-Identifier: MIT
#pragma once

#include "controls.hpp"

namespace arena {

/// How bodies differ.
struct Build {
  double grip_mps2 = 0.0;  ///< how fast a body reaches the speed that it wants, m/s^2
  bool boards = false;     ///< whether it steps onto the platform and off it
};
/// Bots steer gently, and stay on the ground or on the deck.
inline constexpr Build kPlayerBuild{60.0, true}, kBotBuild{12.0, false};

/// Where a step takes place.
struct Stage {
  std::span<const Box> solids;              ///< what stops bodies and the ball
  std::optional<reckoner::State> platform;  ///< after the step; nullopt: there is none
};

/// A fighter's body. On the platform its state is relative to the deck, so that it stands still there on
/// every screen, however late the news about the platform is.
class Body {
 public:
  /// What the next step depends on and a reckoner::State does not contain. Its bytes are the game state of a
  /// predicted avatar (Server::set_game_state()): they travel with each correction, so that the player's
  /// machine continues with the server's numbers.
  struct Memory {
    float dash_left_s = 0.0f, next_dash_s = 0.0f, next_pad_s = 0.0f;  // time until the next dash or pad
    std::array<float, kWeapons> next_shot_s{};
    std::uint32_t aboard = 0, in_air = 0;
  };

  /// `state` is relative to the platform if the body is `aboard`.
  Body(const reckoner::State& state, const Build& build, bool aboard = false) : build_(build) {
    continue_from(state, aboard);
  }

  /// Moves by `step_s` with the present velocity, then lets the controls change the velocity. Each body is
  /// extrapolated with this velocity on other machines, so the two must agree.
  void step(const Controls& controls, double step_s, const Stage& stage);
  /// What has happened in the last step.
  [[nodiscard]] bool has_fired(Weapon weapon) const { return fired_[weapon]; }
  [[nodiscard]] bool has_used_pad() const { return used_pad_; }

  /// Goes on from another state, for example after a correction of the owner by the server.
  void continue_from(const reckoner::State& state, bool aboard);
  /// Goes on from a correction of the prediction: `world` is the server's exact state in the world, `bytes`
  /// are those of memory_bytes(), and `platform` is where the platform was after that tick.
  void restore(const reckoner::State& world, std::span<const std::byte> bytes,
               const reckoner::State& platform);

  [[nodiscard]] const reckoner::State& state() const { return state_; }
  [[nodiscard]] bool aboard() const { return memory_.aboard != 0; }
  [[nodiscard]] reckoner::State in_world(const std::optional<reckoner::State>& platform) const;
  [[nodiscard]] std::span<const std::byte> memory_bytes() const {
    return std::as_bytes(std::span(&memory_, 1));
  }

 private:
  void move(double step_s);
  void steer(const Controls& controls, double step_s);
  void stay_out(const Box& box);
  void stay_inside();
  void use_pad();
  void change_frame(const reckoner::State& platform);
  void fire(const Controls& controls);

  reckoner::State state_;
  Memory memory_;
  Build build_;
  std::array<bool, kWeapons> fired_{};
  bool used_pad_ = false;
};

}  // namespace arena
