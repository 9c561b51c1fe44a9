// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <functional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// What Reckoner has to spend to show as well as a plain interpolation buffer does.
struct EqualError {
  std::string trace;
  std::string network;
  double error_m = 0.0;             ///< what the buffer reaches: 95 % of the shown errors are below
  double plain_bytes_per_s = 0.0;   ///< and what it takes: on the wire down, per entity-second
  double updates_per_second = 0.0;  ///< Reckoner's budget for the same error
  double bytes_per_s = 0.0;         ///< and what that takes
  bool reached = false;             ///< false: not within kMostUpdatesPerS, whose bytes these are
};

/// The buffer's rate, and the largest budget that is tried.
inline constexpr double kPlainUpdatesPerS = 20.0;
inline constexpr double kMostUpdatesPerS = 60.0;

/// For every source and network of `comparison`, over its seeds: `lerp-buffer` at 20 updates a second with 12
/// bytes of position and 4 of orientation, then by bisection the least budget with which Reckoner's error is
/// no larger. Its options' method, budget and seed do not count; the mode must be a buffered one. Progress
/// and failure as compare().
[[nodiscard]] Result<std::vector<EqualError>> bytes_at_equal_error(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// The geometric mean of Reckoner's bytes divided by the buffer's over the traces of a network, each at least
/// kLeastRatio.
[[nodiscard]] double mean_ratio(const std::vector<EqualError>& all, const std::string& network);

}  // namespace reckoner::harness
