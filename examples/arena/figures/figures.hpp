// SPDX-License-Identifier: MIT
#pragma once

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
  double seconds = 60.0;
  std::size_t players = 4;
  std::uint32_t seed = 1;
  std::vector<ScriptLine> script;  // all players play it again and again, each shifted in time
};

/// What the players saw of one kind of entity.
struct KindFigures {
  double error_p95_m = 0.0;        // shown pose against the truth at the same instant; riders: on the deck
  double velocity_step_mps = 0.0;  // largest change of the shown velocity from one picture to the next
  double true_step_mps = 0.0;      // the same of the truth
};

struct Figures {
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
