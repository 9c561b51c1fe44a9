// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <string>
#include <vector>

namespace reckoner::harness {

/// Writes index.html into `folder` and returns its path. Creates the folder if necessary. The page explains
/// `runs` of `comparison`, usually Compared::pooled, to readers who do not know the project, and needs no
/// other files. Runs more replays for its plots: the paths, and every method at several update rates. Fails
/// if gnuplot is not installed, a replay fails, or the file cannot be written.
[[nodiscard]] Result<std::string> write_report(const Comparison& comparison,
                                               const std::vector<CompareRun>& runs,
                                               const std::string& folder);

}  // namespace reckoner::harness
