// SPDX-License-Identifier: MIT
#pragma once

#include "examples/arena/authority.hpp"
#include "examples/arena/figures/script.hpp"
#include "harness/sim/link.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/client/playout.hpp>

namespace arena {

struct FigureOptions {
  reckoner::harness::LinkOptions link;  // both directions
  reckoner::PlayoutMode mode = reckoner::PlayoutMode::present;
  Authority authority = Authority::predicted;
  double seconds = 60.0;
  std::size_t players = 4;
  std::uint32_t seed = 1;
  std::vector<ScriptLine> script;  // all players play it again and again, each shifted in time
  bool chase_ball = false;         // instead, the players run after the ball and push it
};

/// What the players saw of one kind of entity.
struct KindFigures {
  double error_p95_m = 0.0;        // shown pose against the truth at the same instant; riders: on the deck
  double velocity_step_mps = 0.0;  // largest change of the shown velocity from one picture to the next
  double true_step_mps = 0.0;      // the same of the truth
};

/// What players saw of their own avatars and of the ball.
struct OwnFigures {
  double error_p95_m = 0.0;        // of the own avatar, to the server's path at the shown instant
  double velocity_step_mps = 0.0;  // largest change of the own avatar's shown velocity, without teleports
  // Of the ball within 7 m of the avatar, to where it is when the keys that the player presses now take
  // effect.
  double ball_error_p95_m = 0.0;
  double ball_step_m = 0.0;             // largest displacement of the ball from one picture to the next
  double ball_true_step_m = 0.0;        // the same of the truth
  double lead_s = 0.0;                  // mean
  double corrections_per_minute = 0.0;  // of a player; `input_missing` are those because of late inputs
  double input_missing_per_minute = 0.0;
  double repeated_share = 0.0;        // of the ticks: the server repeated an earlier input
  double ball_predicted_share = 0.0;  // of the pictures: the player predicted the ball
  std::size_t kicks = 0;              // ticks in which the ball's velocity changed by more than 1 m/s
};

struct Figures {
  OwnFigures own;
  KindFigures bots, avatars, riders, bolts;
  double standing_rider_m = 0.0;  // largest error of a rider that stands, relative to the drawn deck
  double off_line_m = 0.0;        // largest distance of a bolt from its muzzle's line when first shown
  double bolt_late_p95_ms = 0.0;  // from the shot to the first picture that shows it, bolts of others
  std::size_t bolts_seen = 0;
  std::size_t own_bolts_late = 0;  // own bolts that are not in the frame in which they were fired
  std::size_t own_bolts = 0;
  std::size_t beams = 0, beams_hit = 0, verdicts = 0;
  double seen_error_m = 0.0;      // largest distance of the server's "seen" place from the drawn one, of hits
  std::size_t corrected = 0;      // motions of players that the server corrected or refused
  double bytes_per_second = 0.0;  // received by a player, headers included
};

/// Plays the game in virtual time over a simulated network, with the code of the real game.
Figures play(const FigureOptions& options);

}  // namespace arena
