// SPDX-License-Identifier: MIT
#include "harness/stress/soak/soak.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace reckoner::harness {

double SoakSeries::mean(double from, double to) const {
  const auto size = static_cast<double>(values.size());
  const auto first = static_cast<std::size_t>(from * size), last = static_cast<std::size_t>(to * size);
  double sum = 0.0;
  for (std::size_t i = first; i < last; ++i)
    sum += values[i];
  return last > first ? sum / static_cast<double>(last - first) : 0.0;
}

std::string growth(const SoakSeries& series, double slack, double least) {
  const double before = series.mean(0.4, 0.6), after = series.mean(0.8, 1.0);
  if (after <= before + std::max(slack * before, least)) return {};
  return fmt::format("{} grew from {:.0f} to {:.0f}", series.name, before, after);
}

}  // namespace reckoner::harness
