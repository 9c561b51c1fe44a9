// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace reckoner {

/// How long inputs usually travel: the median of the last reports.
class UsualTransit {
 public:
  void add(double transit_s) {
    samples_[next_ % kKept] = transit_s;
    ++next_;
  }
  /// Nullopt as long as there are few reports, s.
  [[nodiscard]] std::optional<double> median_s() const {
    constexpr std::size_t kEnough = 8;
    if (next_ < kEnough) return std::nullopt;
    auto sorted = samples_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(next_, kKept));
    const auto middle = sorted.begin() + (end - sorted.begin()) / 2;
    std::nth_element(sorted.begin(), middle, end);
    return *middle;
  }

 private:
  static constexpr std::size_t kKept = 64;

  std::array<double, kKept> samples_{};
  std::size_t next_ = 0;  // number of all samples
};

}  // namespace reckoner
