// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_figures.hpp"
#include "harness/prediction/football_options.hpp"
#include "harness/prediction/football_picture.hpp"
#include "harness/prediction/football_server.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace reckoner::harness::football {

/// Sums over all clients at one time.
struct Counters {
  std::uint64_t up_bytes = 0, up_wire_bytes = 0, down_bytes = 0, down_wire_bytes = 0;
  std::uint64_t ticks = 0, ticks_repeated = 0;
};

/// The figures of each method of a run, from kWarmUpS on. `before` and `after` are the counters at kWarmUpS and at
/// the end.
[[nodiscard]] std::vector<FootballFigures> summarise(const FootballOptions& options, const FootballServer& server,
                                                     std::span<const PlayerRecord* const> players,
                                                     const Counters& before, const Counters& after);

}  // namespace reckoner::harness::football
