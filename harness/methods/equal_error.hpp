// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <functional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The bytes that Reckoner needs to reach the error of a plain interpolation buffer.
struct EqualError {
  std::string trace;
  std::string network;
  double error_m = 0.0;             ///< error of the buffer: 95th percentile of the shown error, m
  double plain_bytes_per_s = 0.0;   ///< bytes of the buffer: on the wire, to the client, per entity-second
  double updates_per_second = 0.0;  ///< smallest budget with which Reckoner reaches this error
  double bytes_per_s = 0.0;         ///< bytes of Reckoner with that budget, counted like the buffer's
  /// False: the error exceeds the buffer's even with kMostUpdatesPerS; the bytes are for that budget.
  bool reached = false;
};

/// The update rate of the buffer and the largest budget that is tried.
inline constexpr double kPlainUpdatesPerS = 20.0;
inline constexpr double kMostUpdatesPerS = 60.0;

/// Compares Reckoner with `lerp-buffer` for every source and network of `comparison`, with the mean over its
/// seeds. The buffer sends 20 updates a second, each with 12 bytes of position and 4 of orientation. A
/// bisection then finds the smallest budget with which the error of Reckoner is not larger. The method,
/// budget and seed in `comparison.options` are ignored. The playout mode must be a buffered one. Progress and
/// failure are reported as by compare().
[[nodiscard]] Result<std::vector<EqualError>> bytes_at_equal_error(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// The geometric mean, over all traces with this network, of Reckoner's bytes divided by the buffer's bytes.
/// Each number of bytes counts as at least kLeastRatio. Returns 0 if there is no such trace.
[[nodiscard]] double mean_ratio(const std::vector<EqualError>& all, const std::string& network);

}  // namespace reckoner::harness
