// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace reckoner {

/// The value that is at `index` when `values` is sorted in ascending order. `index` must be below the number
/// of values. Reorders `values`.
[[nodiscard]] inline double nth_value(std::span<double> values, std::size_t index) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

/// The nearest-rank quantile, without interpolation. It is the smallest of `values` for which at least the
/// share `q` (0 to 1) of all values is not larger. Returns 0 if `values` is empty. Reorders `values`.
[[nodiscard]] inline double quantile(std::span<double> values, double q) {
  if (values.empty()) return 0.0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return nth_value(values, std::clamp<std::size_t>(rank, 1, values.size()) - 1);
}

}  // namespace reckoner
