// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <span>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Options for comparing the files of real processes.
struct MeasureOptions {
  double teleport_mps = 100.0;
  /// Frame rate of the client. Pictures without any row count as pictures that showed nothing.
  double frame_rate_hz = 60.0;
  double one_way_s = 0.1;  ///< one-way delay of the link; missing_s and ghost_s allow this plus 0.3 s
};

/// Compares the poses that a real client wrote with the truth that a real server wrote, and returns the
/// figures. The rows are joined by monotonic_s, so an error of the client's clock counts as an error.
/// clock_error_ms is the client's estimate of server time minus the server's own time at the same instant. A
/// pose that shows the present is compared with the truth at the monotonic_s of its row. A pose that shows
/// the past is compared with the truth at its shown_time_s. Pictures outside the time span of the truth are
/// ignored. Fails if a file lacks monotonic_s or goes back in time, or if the files have no entity in common.
[[nodiscard]] Result<Figures> measure(std::span<const scenario::PoseRow> truth,
                                      std::span<const scenario::PoseRow> rendered,
                                      const MeasureOptions& options = {});

/// Like measure(), but reads the rows from the files `truth` and `rendered`.
[[nodiscard]] Result<Figures> measure_files(const std::string& truth, const std::string& rendered,
                                            const MeasureOptions& options = {});

}  // namespace reckoner::harness
