// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// A unit as the factor that converts it to s, m or rad.
struct Unit {
  double factor = 1.0;
  std::string name{};  ///< for messages: "milliseconds"
};

/// Units that a user has named. Nullopt: the headings' or guessed ones.
struct NamedUnits {
  std::optional<Unit> time{};
  std::optional<Unit> length{};
  std::optional<Unit> angle{};
};

/// The unit with this name or abbreviation, in lower case. Nullopt if there is none.
[[nodiscard]] std::optional<Unit> time_unit(std::string_view name);
[[nodiscard]] std::optional<Unit> length_unit(std::string_view name);
[[nodiscard]] std::optional<Unit> angle_unit(std::string_view name);

/// Reads a list such as `t=ms,x=cm,yaw=deg`. t is a unit of time, a number of seconds, or `25fps` for numbers
/// of frames. x is a unit of length or a number of metres. yaw is deg or rad.
[[nodiscard]] Result<NamedUnits> parse_units(std::string_view text);

/// Guesses the unit of times from their size. `first` is the earliest time and `step` the usual step.
[[nodiscard]] Unit guess_time_unit(double first, double step);

}  // namespace reckoner::scenario
