// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_figures.hpp"
#include "harness/prediction/football_options.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// The players' games with one set of options, as a title and a table.
[[nodiscard]] std::string football_text(const football::FootballOptions& options, const std::string& network,
                                        std::span<const std::uint64_t> seeds,
                                        const std::vector<football::FootballFigures>& methods);

/// JSON with the options and "methods", an array with the figures of each method.
[[nodiscard]] nlohmann::ordered_json football_json(const football::FootballOptions& options,
                                                   std::span<const std::uint64_t> seeds,
                                                   const std::vector<football::FootballFigures>& methods);

}  // namespace reckoner::harness
