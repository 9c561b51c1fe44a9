// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/load_run.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// All figures of a load run: what was asked for, "reckoner" and "plain_enet" with the same names where both
/// have them, and the ratios.
[[nodiscard]] nlohmann::ordered_json load_json(const LoadRunOptions& options, const LoadResult& reckoner,
                                               const LoadResult& plain);

/// The same for a person.
[[nodiscard]] std::string load_table(const nlohmann::ordered_json& figures);

}  // namespace reckoner::harness
