// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/replay/replay.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Motion and a network under the names that results carry.
struct NamedSource {
  std::string name;
  std::shared_ptr<const scenario::Source> source;
};
struct NamedLinks {
  std::string name;
  LinkPair links;
};

/// Everything that is compared: each source over each network by each method with each seed.
struct Comparison {
  std::vector<NamedSource> sources;
  std::vector<NamedLinks> networks;
  std::vector<std::string> methods;  ///< as method_names() has them
  std::vector<std::uint64_t> seeds;
  ReplayOptions options;    ///< of every run; links, method and seed are set from above
  std::size_t threads = 0;  ///< 0: one per core
};

/// One run and its figures.
struct CompareRun {
  std::string trace;
  std::string network;
  std::string method;
  std::uint64_t seed = 0;
  Figures figures;
};

/// Runs all of it. The order of the results, and their bits, are those of the nested loops source, network,
/// seed, method, however many threads there are. Under thresholds the baselines send evenly at the rate that
/// Reckoner came to with the same source, network and seed. `progress` hears how many of how many runs are
/// done, from any thread, one call at a time. Fails with the first run in that order that fails.
[[nodiscard]] Result<std::vector<CompareRun>> compare(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Calls `work(index)` for 0 to count - 1 on `threads` threads (0: one per core), each index once.
void for_each_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

/// The figures that methods are compared by; smaller is better. Nothing where a run has none.
struct ComparedFigure {
  const char* name;
  std::optional<double> (*of)(const Figures&);
};

/// p95 error (same-time in present mode, shown in buffered modes), p95 angle error, excess acceleration, wire
/// bytes per entity and s; in buffered modes also the p95 angle error at the instant that is shown.
[[nodiscard]] std::vector<ComparedFigure> compared_figures(bool buffered);

/// One trace cannot carry the mean: ratios below this count as this (EVALUATION.md, Figures).
inline constexpr double kLeastRatio = 0.25;

/// Ours over theirs, clamped below. 1 if both are zero; if only theirs is, the inverse of the clamp.
[[nodiscard]] double clamped_ratio(double ours, double theirs);

/// Reckoner against one method on one network: for each figure the geometric mean over the traces of the
/// clamped ratios, the seeds averaged before.
struct MethodRatios {
  struct Mean {
    std::string figure;
    double ratio = 1.0;
    double worst = 0.0;  ///< the largest of one trace
    std::string worst_trace;
    std::size_t traces = 0;  ///< that have the figure by both
  };
  std::string network;
  std::string method;
  std::vector<Mean> means;  ///< figures that no trace has are absent
};

/// Ratios of `reckoner` against every other method in `runs`, in order of first appearance. Empty without
/// reckoner.
[[nodiscard]] std::vector<MethodRatios> ratios_of(const std::vector<CompareRun>& runs, bool buffered);

/// A figure of a trace, network and method, averaged over its seeds; nothing if no run has it.
[[nodiscard]] std::optional<double> seed_mean(const std::vector<CompareRun>& runs, const std::string& trace,
                                              const std::string& network, const std::string& method,
                                              const ComparedFigure& figure);

}  // namespace reckoner::harness
