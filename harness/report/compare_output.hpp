// SPDX-License-Identifier: MIT
#pragma once

#include "harness/methods/equal_error.hpp"
#include "harness/replay/compare.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The results of bytes_at_equal_error() as text and as JSON.
[[nodiscard]] std::string equal_error_table(const std::vector<EqualError>& all);
[[nodiscard]] nlohmann::ordered_json equal_error_json(const std::vector<EqualError>& all);

/// The results of a comparison as JSON: {"mode", "runs": [{"trace","network","method","seed", ...figures}],
/// "ratios": [{"network","method", figure: {"ratio","worst","worst_trace","traces"} ...}], "pooled":
/// [{"trace","network","method","seeds", ...figures}], "pooled_ratios"}. The values in "ratios" are formed
/// from means over the seeds, those in "pooled_ratios" from the figures in "pooled". A run that showed too
/// little has "unshown", the reason, instead of figures.
[[nodiscard]] nlohmann::ordered_json compare_json(const Compared& compared, bool buffered,
                                                  const std::string& mode);

/// The results of a comparison as text. For each network: the error of each method on each trace, then the
/// geometric means. All figures are of the pictures of all seeds together.
[[nodiscard]] std::string compare_table(const Compared& compared, bool buffered);

/// The distinct values of a member of the runs, in the order of their first appearance.
[[nodiscard]] std::vector<std::string> distinct(const std::vector<CompareRun>& runs,
                                                std::string CompareRun::*member);

}  // namespace reckoner::harness
