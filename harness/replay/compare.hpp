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

/// A source of motion with the name that the results use for it.
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
  ReplayOptions options;    ///< options of every run; compare() sets links, method and seed
  std::size_t threads = 0;  ///< number of threads; 0: one per core
};

/// One run and its figures, or several runs that differ only in their seeds and the figures of all of their
/// pictures together.
struct CompareRun {
  std::string trace;
  std::string network;
  std::string method;
  std::vector<std::uint64_t> seeds;  ///< one element for a single run
  Figures figures;
  /// Why the figures do not count: too few pictures were shown or measured. Empty if they count.
  std::string unshown{};
};

/// The results of a comparison.
struct Compared {
  /// Each run, ordered by source, then by network, then by seed, then by method.
  std::vector<CompareRun> runs;
  /// For each source, network and method, all seeds together. With one seed, the elements equal the runs.
  /// With several, the figures have neither `seen` nor `owned`.
  std::vector<CompareRun> pooled;
};

/// Runs the whole comparison. For any number of threads, the results are equal to the last bit. If thresholds
/// decide when to publish, the baselines send at even intervals at the rate that Reckoner needed with the
/// same source, network and seed. compare() calls `progress` with the number of finished runs and the number
/// of all runs. The call may come from any thread, but never from two threads at once. If runs fail, returns
/// the error of the failed run that comes first in the order of Compared::runs. A run that shows too little
/// has no figures (CompareRun::unshown). If no method has figures of a source and network, this is an error.
[[nodiscard]] Result<Compared> compare(
    const Comparison& comparison,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// What replay_methods() calls around each run. A member may be empty.
struct MethodObserver {
  /// Called before the run of a method. The result receives every picture of this run.
  std::function<PictureSink(const std::string& method)> begin;
  /// Called after a run with its result.
  std::function<void(const std::string& method, const ReplayResult& result)> end;
  /// Called instead of `end` if the run shows so little that its figures do not count (find_unshown()). If
  /// this member is empty, such a run fails.
  std::function<void(const std::string& method, const std::string& reason)> unshown;
};

/// Replays one source with each method, and ignores `options.method`. If thresholds decide when to publish
/// and `methods` contains "reckoner", the other methods send at the rate that Reckoner needed. Reckoner runs
/// first, then the others in the order of `methods`. Stops at the first run that fails; the error names its
/// method.
[[nodiscard]] std::optional<Error> replay_methods(const scenario::Source& source,
                                                  const ReplayOptions& options,
                                                  std::vector<std::string> methods,
                                                  const MethodObserver& observer);

/// Calls `work(index)` once for each index from 0 to count - 1, on `threads` threads (0: one per core).
void for_each_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

/// A figure by which methods are compared. Smaller is better. `of` returns nullopt if a run does not have the
/// figure.
struct ComparedFigure {
  const char* name;
  std::optional<double> (*of)(const Figures&);
  const char* words = "";  ///< what it is, for people
  const char* unit = "";
};

/// The figures that comparisons use: p95 error (same-time error in present mode, shown error in buffered
/// modes), p95 angle error, excess acceleration, and wire bytes per entity-second. In buffered modes, the
/// list also has the p95 angle error at the shown instant.
[[nodiscard]] std::vector<ComparedFigure> compared_figures(bool buffered);

/// Lower limit of a ratio, so that a single trace cannot dominate the mean.
inline constexpr double kMinRatio = 0.25;

/// `ours` divided by `theirs`, at least kMinRatio. Returns 1 if both are zero and 1 / kMinRatio if only
/// `theirs` is zero.
[[nodiscard]] double clamped_ratio(double ours, double theirs);

/// Reckoner compared with one method on one network. For each figure, it contains the geometric mean of the
/// clamped ratios over all traces. If several runs differ only in their seeds, a ratio is formed from the
/// means of their figures.
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
  std::vector<Mean> means;  ///< one element for each figure that at least one trace has
};

/// The ratios of "reckoner" to every other method in `runs`. The methods are in the order of their first
/// appearance. Empty if `runs` has no run of "reckoner".
[[nodiscard]] std::vector<MethodRatios> ratios_of(const std::vector<CompareRun>& runs, bool buffered);

/// The mean of a figure over the runs of one trace, network and method. Returns nullopt if no run has the
/// figure.
[[nodiscard]] std::optional<double> seed_mean(const std::vector<CompareRun>& runs, const std::string& trace,
                                              const std::string& network, const std::string& method,
                                              const ComparedFigure& figure);

/// The geometric mean of a figure over the traces, for one network and method. Values below 1e-6 count as
/// 1e-6. Returns nullopt if no trace has the figure.
[[nodiscard]] std::optional<double> trace_mean(const std::vector<CompareRun>& runs,
                                               const std::string& network, const std::string& method,
                                               const ComparedFigure& figure);

}  // namespace reckoner::harness
