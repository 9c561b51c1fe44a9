// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/error_split.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The results of split_errors() as text: for each network, a row per recording with the whole error and its
/// parts, in m and in percent of the error of "snap".
[[nodiscard]] std::string error_split_table(const std::vector<ErrorSplit>& all);

/// The results of split_errors() as JSON:
/// [{"trace","network","seeds","now_error_m_p95","prediction_m","age_m",
/// "blend_m","loss_m","snap_now_error_m_p95","share_of_snap":
/// {"now_error","prediction","age","blend","loss"}}]. "share_of_snap" is null if the error of "snap" is 0.
[[nodiscard]] nlohmann::ordered_json error_split_json(const std::vector<ErrorSplit>& all);

}  // namespace reckoner::harness
