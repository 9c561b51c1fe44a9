// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace reckoner::test {

/// The value that 95 % of `values` do not exceed. Infinite if there are none, so that a test whose bound it
/// is fails.
[[nodiscard]] inline double p95(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 95 / 100);
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace reckoner::test
