// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace reckoner::test {

/// The value that the share `share` of `values` does not exceed. Infinite if there are none, so that a test
/// whose bound it is fails.
[[nodiscard]] inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto index = static_cast<std::size_t>(static_cast<double>(values.size()) * share);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

[[nodiscard]] inline double p95(const std::vector<double>& values) {
  return percentile(values, 0.95);
}

}  // namespace reckoner::test
