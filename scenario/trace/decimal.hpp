// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace reckoner::scenario {

/// True for 0 to 9, in any locale.
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads the whole text as a number in the format of std::from_chars(): no blanks, no plus sign. Returns the
/// nearest double, which may be infinite or NaN, and nullopt for any other text. Standard libraries without
/// std::from_chars() for floating point get the same results from another function.
[[nodiscard]] std::optional<double> read_decimal(std::string_view text);

}  // namespace reckoner::scenario
