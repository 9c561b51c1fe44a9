// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <reckoner/harness/figures.hpp>

namespace reckoner::harness {

/// The figures under the contract's names, in the contract's order.
[[nodiscard]] nlohmann::ordered_json figures_json(const Figures& figures);

}  // namespace reckoner::harness
