// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace reckoner::scenario {

/// Reads a date, a clock, or both: "2024-05-01T12:00:00.25Z", "2024/05/01 12:00:00", "01.05.2024 12:00",
/// "12:00:00,5". Returns seconds since 1970 without regard to the time zone, or since midnight without a
/// date. Nullopt for any other text. In a date whose year is last, points mean day.month.year, and slashes
/// mean month/day/year.
[[nodiscard]] std::optional<double> read_time_text(std::string_view text);

}  // namespace reckoner::scenario
