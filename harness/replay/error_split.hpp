// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The causes of the p95 same-time error of Reckoner on one recording and network, all pictures of all seeds
/// together. Four runs differ in one cause each, and a part is the difference between two of them:
///
/// | run | of Reckoner | part |
/// |---|---|---|
/// | 1 | as it is | blend: run 1 minus run 2 |
/// | 2 | without a blend | loss: run 2 minus run 3 |
/// | 3 | also without loss | age: run 3 minus run 4 |
/// | 4 | also without delay, so that an update arrives in the tick in which it is sent | prediction: all of
/// run 4 |
///
/// So the parts add up to the error. A part is negative if the error is larger without its cause.
struct ErrorSplit {
  std::string trace;
  std::string network;
  std::vector<std::uint64_t> seeds;
  double error_m = 0.0;  ///< the whole p95 same-time error, m
  /// The prediction between two updates is wrong although every update arrives at once, m. Contains what has
  /// none of the other causes, for example the threshold and the rounding of updates.
  double prediction_m = 0.0;
  double age_m = 0.0;    ///< the motion in use is older, because updates travel and some travel longer, m
  double blend_m = 0.0;  ///< corrections show gradually, m
  double loss_m = 0.0;   ///< updates are lost, m
  double snap_m = 0.0;   ///< the p95 same-time error of the baseline "snap" on the same network, m
};

/// Returns why these options cannot be split: only runs in present mode, in virtual time, over one link for
/// the whole run, of entities that the server moves. nullopt if they can.
[[nodiscard]] std::optional<Error> find_unsplittable(const ReplayOptions& options);

/// Splits the error of Reckoner on every source and network of `comparison`, in this order. Ignores
/// `comparison.methods`. The runs, their threads, `progress` and the errors are those of compare(). Fails
/// with find_unsplittable(), too.
[[nodiscard]] Result<std::vector<ErrorSplit>> split_errors(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace reckoner::harness
