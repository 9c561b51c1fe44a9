// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "net/src/codec/coding_statistics.hpp"

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The figures under the contract's names, in the contract's order.
[[nodiscard]] nlohmann::ordered_json figures_json(const Figures& figures);

/// The figures of routes, under names of their own.
[[nodiscard]] nlohmann::ordered_json figures_json(const RouteFigures& figures);

/// What updates are made of, and how near that is to their entropy.
[[nodiscard]] nlohmann::ordered_json figures_json(const CodingFigures& figures);

}  // namespace reckoner::harness
