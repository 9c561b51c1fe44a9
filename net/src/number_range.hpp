// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace reckoner {

/// A number that somebody has set, by its name, and what it may be.
struct NumberRange {
  const char* name;
  double value, least, most;
};

/// The name of the first that is outside, or is no number; null: all are well.
[[nodiscard]] inline const char* first_out_of_range(std::span<const NumberRange> numbers) {
  for (const NumberRange& number : numbers) {
    // Written so that what is no number is refused too.
    if (!(number.value >= number.least && number.value <= number.most)) return number.name;
  }
  return nullptr;
}

}  // namespace reckoner
