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
  double error_m = 0.0;             ///< 95th percentile of the buffer's shown error, m
  double plain_bytes_per_s = 0.0;   ///< wire bytes of the buffer to the client per entity-second
  double updates_per_second = 0.0;  ///< smallest budget with which Reckoner reaches this error
  /// Wire bytes of Reckoner to the client per entity-second with that budget.
  double bytes_per_s = 0.0;
  /// False: even with kMaxUpdatesPerS, the error of Reckoner exceeds the error of the buffer. `bytes_per_s`
  /// is then the figure for kMaxUpdatesPerS.
  bool reached = false;
};

/// The update rate of the buffer, and the largest budget that the bisection tries.
inline constexpr double kPlainUpdatesPerS = 20.0;
inline constexpr double kMaxUpdatesPerS = 60.0;

/// Compares Reckoner with the method `lerp-buffer` for every source and network of `comparison`. All errors
/// and bytes are means over its seeds. The buffer sends 20 updates a second, each with 12 bytes of position
/// and 4 of orientation. A bisection then finds the smallest budget with which the error of Reckoner is not
/// larger. The method, budget and seed in `comparison.options` are ignored. The caller must choose a buffered
/// playout mode. Reports progress and failure like compare().
[[nodiscard]] Result<std::vector<EqualError>> bytes_at_equal_error(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// The geometric mean, over all traces with this network, of Reckoner's bytes divided by the buffer's bytes.
/// Each ratio counts as at least kMinRatio. Returns 0 if there is no such trace.
[[nodiscard]] double mean_ratio(const std::vector<EqualError>& all, const std::string& network);

}  // namespace reckoner::harness
