// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/frame_metrics.hpp"
#include "harness/metrics/metrics.hpp"

#include <optional>

namespace reckoner::harness {

/// What was measured in one run, or in several runs of one source together: every sample, so that quantiles
/// of all pictures can be taken. Refers to the source of the truth, which must outlive it. Belongs to one
/// thread at a time.
struct RunSamples {
  Metrics metrics;
  std::optional<FrameMetrics> frames;  ///< nullopt if no entity is in the frame of another entity
  Traffic down;
  Traffic up;
  double run_s = 0.0;         ///< length of all runs together, s
  double tick_rate_hz = 0.0;  ///< ticks of the server per second, equal in all runs

  /// Adds the samples of other runs. The caller must pass runs of the same source, tick rate and frame rate.
  void add(const RunSamples& other);

  /// The figures of all pictures together. `seen` and `owned` are nullopt, because their samples are not
  /// kept here.
  [[nodiscard]] Figures figures() const;
};

}  // namespace reckoner::harness
