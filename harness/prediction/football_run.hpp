// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_figures.hpp"
#include "harness/prediction/football_options.hpp"

#include <vector>

namespace reckoner::harness::football {

/// Plays football in virtual time: a server and six clients over a simulated network. Returns the figures of one
/// method, or, with Approach::prediction, of each way to show corrections: the same game, shown four times.
[[nodiscard]] std::vector<FootballFigures> run_football(const FootballOptions& options);

}  // namespace reckoner::harness::football
