// SPDX-License-Identifier: MIT
#include "harness/commands/football/football_arguments.hpp"

#include <algorithm>
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace reckoner::harness {
namespace {

constexpr const char* kGroup = "The players' game of the scenario football";

std::optional<Error> outside(const char* option, double value, double least, double most) {
  if (value >= least && value <= most) return std::nullopt;
  return Error{fmt::format("{} {:g}: players' games have {:g} to {:g}", option, value, least, most)};
}

// How many inputs a datagram has, so that there are about `rate_hz` datagrams a second.
Result<std::uint32_t> inputs_per_datagram(double rate_hz, double tick_rate_hz) {
  if (rate_hz <= 0.0) return 1u;
  const double inputs = std::round(tick_rate_hz / rate_hz);
  constexpr double kNear = 0.1;
  if (inputs < 1.0 || inputs > 4.0 || std::abs(tick_rate_hz / inputs - rate_hz) > kNear * rate_hz) {
    return Error{fmt::format(
        "--input-rate {:g}: with {:g} ticks a second, the rates are about {:g}, {:g}, {:g} and {:g}", rate_hz,
        tick_rate_hz, tick_rate_hz, tick_rate_hz / 2.0, tick_rate_hz / 3.0, tick_rate_hz / 4.0)};
  }
  return static_cast<std::uint32_t>(inputs);
}

}  // namespace

void add_football_options(CLI::App& command, FootballArguments& arguments) {
  football::FootballOptions& options = arguments.options;
  command.add_option("--players", options.players, "number of players; the other cars stand still")
      ->check(CLI::Range(std::size_t{1}, football::kCars))
      ->group(kGroup);
  command
      .add_option("--input-delay", options.input_delay_ticks,
                  "an input takes effect this number of ticks later")
      ->check(CLI::Range(0, 3))
      ->group(kGroup);
  command
      .add_option("--input-rate", arguments.input_rate_hz,
                  "datagrams with inputs per second: the tick rate divided by 1, 2, 3 or 4 (default: by 1)")
      ->check(CLI::PositiveNumber)
      ->group(kGroup);
  command
      .add_option("--tolerance-m", options.rules.position_m,
                  "a client is corrected if its result is further away than this along an axis, m")
      ->check(CLI::Range(0.0001, 100.0))
      ->group(kGroup);
  command
      .add_option("--tolerance-rad", options.rules.angle_rad,
                  "a client is corrected if its result is turned by more than this, rad")
      ->check(CLI::Range(0.0001, 1.0))
      ->group(kGroup);
  command
      .add_option("--smoothing", options.smoothing,
                  "factor of the second method that shrinks errors exponentially, for each picture")
      ->check(CLI::Range(0.0, 0.999))
      ->group(kGroup);
  command
      .add_option(
          "--others", arguments.others,
          "where others' cars are for a player's game: present, ahead (extrapolated to the tick of the "
          "input), or stepped (to that tick, by the game)")
      ->check(CLI::IsMember(
          std::vector<std::string>(football::kOthersNames.begin(), football::kOthersNames.end())))
      ->group(kGroup);
  command
      .add_option("--ball", arguments.ball,
                  "the ball is predicted by each player, or only shown to it: predicted or shown")
      ->check(CLI::IsMember({"predicted", "shown"}))
      ->group(kGroup);
  command.add_flag("--no-contacts", arguments.no_contacts, "cars and ball pass through each other")
      ->group(kGroup);
  command.add_option("--seeds", arguments.seeds, "pool the figures of games with these seeds")
      ->delimiter(',')
      ->group(kGroup);
}

std::string used_football_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kGroup && option->count() > 0) return option->get_name();
  }
  return {};
}

Result<football::FootballOptions> football_options(const FootballArguments& arguments) {
  football::FootballOptions options = arguments.options;
  if (options.seconds <= 0.0) options.seconds = 60.0;
  if (const auto wrong = outside("--tick-rate", options.tick_rate_hz, 20.0, 128.0)) return *wrong;
  if (const auto wrong = outside("--frame-rate", options.frame_rate_hz, 30.0, 240.0)) return *wrong;
  if (const auto wrong = outside("--seconds", options.seconds, 1.0, 36'000.0)) return *wrong;
  const auto inputs = inputs_per_datagram(arguments.input_rate_hz, options.tick_rate_hz);
  if (!inputs) return Error{inputs.error()};
  options.inputs_per_datagram = *inputs;
  options.others_at = static_cast<football::OthersAt>(
      std::ranges::find(football::kOthersNames, arguments.others) - football::kOthersNames.begin());
  options.predicts_ball = arguments.ball == "predicted";
  options.has_contacts = !arguments.no_contacts;
  return options;
}

}  // namespace reckoner::harness
