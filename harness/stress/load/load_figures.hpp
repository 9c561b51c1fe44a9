// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/load_run.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// All figures of a load run as JSON: the options; "reckoner" and "plain_enet", which share names where both
/// have a figure; and ratios.
[[nodiscard]] nlohmann::ordered_json load_json(const LoadRunOptions& options, const LoadResult& reckoner,
                                               const LoadResult& plain);

/// The figures of load_json() as a table.
[[nodiscard]] std::string load_table(const nlohmann::ordered_json& figures);

}  // namespace reckoner::harness
