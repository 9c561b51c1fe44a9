// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <span>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// How the files of real processes are compared.
struct MeasureOptions {
  double teleport_mps = 100.0;
  double frame_rate_hz =
      60.0;                ///< of the client: frames without a row in between are frames that showed nothing
  double one_way_s = 0.1;  ///< the link's delay: grace for missing_s and ghost_s
};

/// The figures of a real client against the truth that a real server wrote, joined on monotonic_s, so that an
/// error of the client's clock counts. clock_error_ms is the client's server time minus the server's own at
/// the same instant. A pose that means the present is measured at its row's monotonic_s, one that means the
/// past at the instant it names. Only what lies within the truth is measured. Fails if either lacks
/// monotonic_s, or they have no entity in common.
[[nodiscard]] Result<Figures> measure(std::span<const scenario::PoseRow> truth,
                                      std::span<const scenario::PoseRow> rendered,
                                      const MeasureOptions& options = {});

/// The same from files.
[[nodiscard]] Result<Figures> measure_files(const std::string& truth, const std::string& rendered,
                                            const MeasureOptions& options = {});

}  // namespace reckoner::harness
