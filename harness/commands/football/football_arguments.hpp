// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::harness {

/// The options of the players' game: those that only this game has, and those that it shares with replays.
struct FootballArguments {
  /// Links, script, rates, seconds and mode must be set from the shared options. `tick_rate_hz`,
  /// `frame_rate_hz` and `seconds` may have any values here; 0 seconds are 60.
  football::FootballOptions options;
  double input_rate_hz = 0.0;        ///< datagrams with inputs per second; 0: one for each tick
  std::string others = "stepped";    ///< a name of OthersAt
  std::string ball = "predicted";    ///< predicted or shown
  bool no_contacts = false;          ///< bodies pass through each other
  std::vector<std::uint64_t> seeds;  ///< empty: only that of the run
};

/// Adds the options that only the players' game has, in a group of the help text. `arguments` must exist
/// until the command line is parsed.
void add_football_options(CLI::App& command, FootballArguments& arguments);

/// The first of these options that the parsed command line contains; empty if there is none.
[[nodiscard]] std::string used_football_option(const CLI::App& command);

/// The options of the game. Fails if one is invalid or out of range.
[[nodiscard]] Result<football::FootballOptions> football_options(const FootballArguments& arguments);

}  // namespace reckoner::harness
