// SPDX-License-Identifier: MIT
#pragma once

#include "plot_script.hpp"

#include <cstddef>

#include <reckoner/harness/replay.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/scenario/source.hpp>

namespace reckoner::harness {

inline constexpr double kPlotWarmUpS = 2.0;  ///< until client and clock have settled; not drawn

/// Replays and keeps what was shown of one entity; `rate_hz` becomes the updates per second it got. Title and
/// colour are the caller's. Frames after a teleport are left out as the figures leave them out.
[[nodiscard]] Result<PlotMethod> record_method(const scenario::Source& source, const ReplayOptions& options,
                                               std::size_t entity, double& rate_hz);

}  // namespace reckoner::harness
