// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <string>
#include <vector>

namespace reckoner::harness {

/// Writes index.html into `folder` (made if need be): one page without outside parts that shows `runs` of
/// `comparison` to someone who has never seen the project. Runs more for its plots: the paths, and every
/// method at several rates. Needs gnuplot. Returns the page's path.
[[nodiscard]] Result<std::string> write_report(const Comparison& comparison,
                                               const std::vector<CompareRun>& runs,
                                               const std::string& folder);

}  // namespace reckoner::harness
