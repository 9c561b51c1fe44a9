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

/// Motion and a network, with the names that the results use.
struct NamedSource {
  std::string name;
  std::shared_ptr<const scenario::Source> source;
};
struct NamedLinks {
  std::string name;
  LinkPair links;
};

/// The runs of a comparison: each source over each network by each method with each seed.
struct Comparison {
  std::vector<NamedSource> sources;
  std::vector<NamedLinks> networks;
  std::vector<std::string> methods;  ///< names from method_names()
  std::vector<std::uint64_t> seeds;
  ReplayOptions options;    ///< for every run; compare() sets links, method and seed
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

/// Runs the whole comparison. The results do not depend on the number of threads, down to the last bit. Their
/// order is that of nested loops over source, network, seed and method. If thresholds decide when to publish,
/// the baselines send at even intervals at the rate that Reckoner needed with the same source, network and
/// seed. `progress` gets the number of finished runs and of all runs. It is called from any thread, but never
/// by two at once. Returns the error of the first run, in that order, that fails.
[[nodiscard]] Result<std::vector<CompareRun>> compare(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Calls `work(index)` once for each index from 0 to count - 1, on `threads` threads (0: one per core).
void for_each_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

/// A figure that methods are compared by. Smaller is better. `of` returns nullopt if a run does not have it.
struct ComparedFigure {
  const char* name;
  std::optional<double> (*of)(const Figures&);
};

/// The figures that comparisons use: p95 error (same-time error in present mode, shown error in buffered
/// modes), p95 angle error, excess acceleration, and wire bytes per entity-second. In buffered modes also the
/// p95 angle error at the shown instant.
[[nodiscard]] std::vector<ComparedFigure> compared_figures(bool buffered);

/// Lower limit of a ratio, so that a single trace cannot dominate the mean.
inline constexpr double kLeastRatio = 0.25;

/// `ours` divided by `theirs`, at least kLeastRatio. Returns 1 if both are zero and 1 / kLeastRatio if only
/// `theirs` is zero.
[[nodiscard]] double clamped_ratio(double ours, double theirs);

/// Reckoner against one method on one network. For each figure: the geometric mean of the clamped ratios over
/// the traces. The values are averaged over the seeds before the ratios are formed.
struct MethodRatios {
  struct Mean {
    std::string figure;
    double ratio = 1.0;
    double worst = 0.0;  ///< largest ratio of any trace
    std::string worst_trace;
    std::size_t traces = 0;  ///< number of traces for which both methods have the figure
  };
  std::string network;
  std::string method;
  std::vector<Mean> means;  ///< without figures that no trace has
};

/// The ratios of "reckoner" to every other method in `runs`, in the order of their first appearance. Empty if
/// `runs` has no run of "reckoner".
[[nodiscard]] std::vector<MethodRatios> ratios_of(const std::vector<CompareRun>& runs, bool buffered);

/// The mean over the seeds of a figure, for a trace, network and method. Returns nullopt if no run has the
/// figure.
[[nodiscard]] std::optional<double> seed_mean(const std::vector<CompareRun>& runs, const std::string& trace,
                                              const std::string& network, const std::string& method,
                                              const ComparedFigure& figure);

}  // namespace reckoner::harness
