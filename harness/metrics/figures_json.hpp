// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The figures of a run as JSON. The names and their order are part of the harness's interface.
[[nodiscard]] nlohmann::ordered_json figures_json(const Figures& figures);

/// The figures of entities on routes as JSON.
[[nodiscard]] nlohmann::ordered_json figures_json(const RouteFigures& figures);

/// The bits of the updates by field, and their entropy, as JSON.
[[nodiscard]] nlohmann::ordered_json figures_json(const CodingFigures& figures);

}  // namespace reckoner::harness
