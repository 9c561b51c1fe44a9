// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/prediction.hpp>

namespace reckoner::harness::football {

/// How corrections are shown.
enum class Display : std::uint8_t {
  reckoner,
  snap,
  exponential,        ///< the factor is FootballOptions::smoothing
  slowly_exponential  ///< the factor is kSlowSmoothing
};
inline constexpr std::size_t kDisplays = 4;
inline constexpr double kSlowSmoothing = 0.9;

/// A predicted body as one display shows it in a picture.
struct Drawn {
  glm::dvec3 position{0.0};
  /// Distance to the predicted path, m.
  double offset_m = 0.0;
  /// By how much the distance to the path has changed beyond its own speed, m: a jump.
  double step_m = 0.0;
  /// Second difference of the distance to the path, m/s^2: what the display adds to the motion.
  double acceleration_mps2 = 0.0;
};

/// What a player sees at one instant.
struct Picture {
  double time_s = 0.0;
  double own_s = 0.0;   ///< shown time of the player's car, server time, s
  double ball_s = 0.0;  ///< shown time of the ball
  double others_s = 0.0;
  double lead_s = 0.0;
  double since_correction_s = 1e9;   ///< since the last correction was applied
  std::array<Drawn, kDisplays> own;  ///< without prediction, only the first
  std::array<Drawn, kDisplays> ball;
  std::array<std::optional<glm::dvec3>, kCars> others;  ///< not the player's own car
};

/// A correction that the player's game has applied.
struct Applied {
  double tick_s = 0.0;   ///< time of its tick
  double until_s = 0.0;  ///< shown time of the player's car when it was applied
  CorrectionReason reason = CorrectionReason::begins;
};

/// A contact that the player's game has computed, when it stepped the tick for the first time.
struct SeenContact {
  Tick tick = 0;
  std::size_t with = 0;  ///< the other body
};

/// Everything that a player has seen.
struct PlayerRecord {
  std::vector<Picture> pictures;
  std::vector<Applied> corrections;
  std::vector<SeenContact> contacts;
  std::vector<double> response_frames;  ///< pictures between a change of the keys and the first that shows it
};

}  // namespace reckoner::harness::football
