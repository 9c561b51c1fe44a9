// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_figures.hpp"
#include "harness/prediction/football_options.hpp"
#include "harness/prediction/football_summary.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace reckoner::harness::football {

/// Plays one game in virtual time: a server and its players over a simulated network. Returns what they saw:
/// one element, or with Approach::prediction one for each Display, of the same game. Deterministic.
[[nodiscard]] std::vector<FootballSamples> run_football(const FootballOptions& options);

/// Plays the game of `options` with every method, with each of the seeds, and returns the figures of each
/// method over all seeds: no-prediction, ownership, snap, two of exponential smoothing, reckoner, and,
/// for each OthersAt below that of `options`, reckoner-ahead and reckoner-present. Ignores
/// `options.approach` and `options.seed`. Uses `threads` threads (0: one per core); the figures do not depend
/// on it. Calls `progress` with the number of finished games and of all games, from any thread, but from one
/// at a time.
[[nodiscard]] std::vector<FootballFigures> play_football(
    const FootballOptions& options, std::span<const std::uint64_t> seeds, std::size_t threads = 0,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace reckoner::harness::football
