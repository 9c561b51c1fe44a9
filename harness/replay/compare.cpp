// SPDX-License-Identifier: MIT
#include "harness/replay/compare.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "server/src/util/worker_pool.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

namespace reckoner::harness {
namespace {

// Pools the runs of one source and network over the seeds. Runs of different seeds may end in different
// threads. Samples take much memory, so those of a method are dropped as soon as all of its seeds have
// arrived.
class SeedPools {
 public:
  SeedPools(std::size_t methods, std::size_t seeds)
      : figures_(methods), waiting_(methods, std::vector<std::shared_ptr<const RunSamples>>(seeds)) {}

  void add(std::size_t method, std::size_t seed, const ReplayResult& result) {
    const std::lock_guard lock(mutex_);
    auto& samples = waiting_[method];
    if (samples.size() == 1) {
      figures_[method] = result.run;
      return;
    }
    samples[seed] = result.samples;
    if (std::find(samples.begin(), samples.end(), nullptr) != samples.end()) return;
    // In the order of the seeds, because sums of floating-point numbers depend on the order.
    RunSamples all = *samples.front();
    for (std::size_t i = 1; i < samples.size(); ++i)
      all.add(*samples[i]);
    figures_[method] = all.figures();
    std::fill(samples.begin(), samples.end(), nullptr);
  }

  // The figures of each method. nullopt if not all of its runs were added.
  [[nodiscard]] const std::vector<std::optional<Figures>>& figures() const { return figures_; }

 private:
  Mutex mutex_;
  std::vector<std::optional<Figures>> figures_;
  std::vector<std::vector<std::shared_ptr<const RunSamples>>> waiting_;
};

// The runs of all methods with one source, network and seed. They run one after another. Reckoner is the
// first, because its update rate is also the update rate of the baselines.
struct Group {
  const NamedSource* source = nullptr;
  const NamedLinks* network = nullptr;
  std::size_t seed = 0;  // index in Comparison::seeds
  SeedPools* pools = nullptr;
  std::vector<CompareRun> runs;
  std::optional<Error> wrong;
};

void run_group(const Comparison& comparison, Group& group, const std::function<void()>& report_progress) {
  ReplayOptions options = comparison.options;
  options.links = group.network->links;
  options.seed = comparison.seeds[group.seed];
  options.keep_samples = comparison.seeds.size() > 1;
  const auto index_of = [&](const std::string& method) {
    return static_cast<std::size_t>(std::find(comparison.methods.begin(), comparison.methods.end(), method) -
                                    comparison.methods.begin());
  };
  MethodObserver observer;
  observer.end = [&](const std::string& method, const ReplayResult& result) {
    group.runs.push_back({group.source->name, group.network->name, method, {options.seed}, result.run});
    group.pools->add(index_of(method), group.seed, result);
    report_progress();
  };
  observer.unshown = [&](const std::string& method, const std::string& reason) {
    group.runs.push_back({group.source->name, group.network->name, method, {options.seed}, {}, reason});
    report_progress();
  };
  if (const auto wrong = replay_methods(*group.source->source, options, comparison.methods, observer)) {
    group.wrong = Error{group.source->name + " over " + group.network->name + ", " + wrong->message};
    return;
  }
  std::stable_sort(group.runs.begin(), group.runs.end(), [&](const CompareRun& a, const CompareRun& b) {
    return index_of(a.method) < index_of(b.method);
  });
}

std::optional<double> wire_bytes_per_s(const Figures& figures) {
  if (!figures.down || figures.entity_seconds <= 0.0) return std::nullopt;
  return static_cast<double>(figures.down->wire_bytes) / figures.entity_seconds;
}

std::optional<double> p95(const std::optional<Distribution>& errors) {
  return errors ? std::optional(errors->p95) : std::nullopt;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::optional<MethodRatios::Mean> mean_of(const std::vector<CompareRun>& runs, const std::string& network,
                                          const std::string& method, const ComparedFigure& figure,
                                          const std::vector<std::string>& traces) {
  MethodRatios::Mean mean;
  mean.figure = figure.name;
  double logs = 0.0;
  for (const std::string& trace : traces) {
    const auto ours = seed_mean(runs, trace, network, "reckoner", figure);
    const auto theirs = seed_mean(runs, trace, network, method, figure);
    if (!ours || !theirs) continue;
    const double ratio = clamped_ratio(*ours, *theirs);
    logs += portable::log(ratio);
    ++mean.traces;
    if (ratio > mean.worst) {
      mean.worst = ratio;
      mean.worst_trace = trace;
    }
  }
  if (mean.traces == 0) return std::nullopt;
  mean.ratio = portable::exp(logs / static_cast<double>(mean.traces));
  return mean;
}

// All seeds of one source, network and method together.
CompareRun pooled_run(const Comparison& comparison, const std::vector<Group>& groups, const Group& first,
                      std::size_t method) {
  CompareRun pooled{
      first.source->name, first.network->name, comparison.methods[method], comparison.seeds, {}};
  if (const auto& figures = first.pools->figures()[method]) {
    pooled.figures = *figures;
    return pooled;
  }
  for (const Group& group : groups) {
    if (group.pools != first.pools) continue;
    for (const CompareRun& run : group.runs) {
      if (run.method == pooled.method && pooled.unshown.empty()) pooled.unshown = run.unshown;
    }
  }
  return pooled;
}

// The reason if no method has figures of the trace and network of `one`. It is that of reckoner, because the
// others may have none for the same reason.
std::optional<Error> find_figureless(const std::vector<CompareRun>& runs, const CompareRun& one) {
  const CompareRun* reason = &one;
  for (const CompareRun& run : runs) {
    if (run.trace != one.trace || run.network != one.network) continue;
    if (run.unshown.empty()) return std::nullopt;
    if (run.method == "reckoner") reason = &run;
  }
  return Error{reason->trace + " over " + reason->network + ", " + reason->method + ": " + reason->unshown};
}

Result<Compared> collect(const Comparison& comparison, std::vector<Group>& groups) {
  Compared compared;
  for (const Group& group : groups) {
    if (group.wrong) return *group.wrong;
    if (group.seed > 0) continue;
    for (std::size_t i = 0; i < comparison.methods.size(); ++i)
      compared.pooled.push_back(pooled_run(comparison, groups, group, i));
  }
  for (Group& group : groups)
    std::move(group.runs.begin(), group.runs.end(), std::back_inserter(compared.runs));
  for (const CompareRun& run : compared.pooled) {
    if (const auto wrong = find_figureless(compared.pooled, run)) return *wrong;
  }
  return compared;
}

}  // namespace

std::optional<Error> replay_methods(const scenario::Source& source, const ReplayOptions& options,
                                    std::vector<std::string> methods, const MethodObserver& observer) {
  std::stable_partition(methods.begin(), methods.end(), [](const auto& name) { return name == "reckoner"; });
  const bool by_threshold = options.budget.updates_per_second <= 0.0 && options.budget.fixed_rate_hz <= 0.0;
  double rate_hz = 0.0;
  bool rate_unknown = false;
  for (const std::string& method : methods) {
    if (rate_unknown) {
      observer.unshown(method, "it may send as often as reckoner, which showed too little");
      continue;
    }
    ReplayOptions one = options;
    one.method = method;
    if (by_threshold && method != "reckoner" && rate_hz > 0.0) one.budget.fixed_rate_hz = rate_hz;
    const auto result = replay(source, one, observer.begin ? observer.begin(method) : PictureSink{});
    if (!result) return Error{method + ": " + result.error()};
    if (const auto unshown = find_unshown(*result)) {
      if (!observer.unshown) return Error{method + ": " + unshown->message};
      observer.unshown(method, unshown->message);
      rate_unknown = by_threshold && method == "reckoner";
      continue;
    }
    if (method == "reckoner") rate_hz = updates_per_s(result->run);
    if (observer.end) observer.end(method, *result);
  }
  return std::nullopt;
}

void for_each_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  if (threads == 0) threads = hardware_threads();
  WorkerPool pool(static_cast<unsigned>(std::min(threads, count)));
  pool.run(count, 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      work(i);
  });
}

Result<Compared> compare(const Comparison& comparison,
                         const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<Group> groups;
  std::deque<SeedPools> pools;  // a deque, because groups refer to its elements
  for (const NamedSource& source : comparison.sources) {
    for (const NamedLinks& network : comparison.networks) {
      pools.emplace_back(comparison.methods.size(), comparison.seeds.size());
      for (std::size_t seed = 0; seed < comparison.seeds.size(); ++seed)
        groups.push_back({&source, &network, seed, &pools.back(), {}, {}});
    }
  }
  const std::size_t all = groups.size() * comparison.methods.size();
  Mutex mutex;
  std::size_t done = 0;
  const auto report_progress = [&] {
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, all);
  };
  for_each_parallel(groups.size(), comparison.threads,
                    [&](std::size_t i) { run_group(comparison, groups[i], report_progress); });
  return collect(comparison, groups);
}

std::vector<ComparedFigure> compared_figures(bool buffered) {
  using F = const Figures&;
  const ComparedFigure now{"now_error_m_p95", [](F f) { return std::optional(f.now_error_m.p95); },
                           "distance from the truth", "m"};
  const ComparedFigure shown{"shown_error_m_p95", [](F f) { return std::optional(f.shown_error_m.p95); },
                             "distance from the true path", "m"};
  std::vector<ComparedFigure> figures{
      buffered ? shown : now,
      {"angle_error_rad_p95", [](F f) { return p95(f.angle_error_rad); }, "turned from the truth", "rad"},
      {"excess_acceleration_mps2", [](F f) { return std::optional(f.excess_acceleration_mps2); }, "shaking",
       "m/s^2"},
      {"wire_bytes_per_s", wire_bytes_per_s, "traffic of an entity", "bytes/s"}};
  if (buffered)
    figures.push_back({"shown_angle_error_rad_p95", [](F f) { return p95(f.shown_angle_error_rad); },
                       "turned from the truth at the shown instant", "rad"});
  return figures;
}

double clamped_ratio(double ours, double theirs) {
  constexpr double kNothing = 1e-9;
  if (theirs <= kNothing) return ours <= kNothing ? 1.0 : 1.0 / kMinRatio;
  return std::max(kMinRatio, ours / theirs);
}

std::optional<double> seed_mean(const std::vector<CompareRun>& runs, const std::string& trace,
                                const std::string& network, const std::string& method,
                                const ComparedFigure& figure) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const CompareRun& run : runs) {
    if (run.trace != trace || run.network != network || run.method != method || !run.unshown.empty())
      continue;
    if (const auto value = figure.of(run.figures)) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::optional<double> trace_mean(const std::vector<CompareRun>& runs, const std::string& network,
                                 const std::string& method, const ComparedFigure& figure) {
  std::vector<std::string> traces;
  for (const CompareRun& run : runs)
    add_once(traces, run.trace);
  double logs = 0.0;
  std::size_t count = 0;
  for (const std::string& trace : traces) {
    const auto value = seed_mean(runs, trace, network, method, figure);
    if (!value) continue;
    logs += portable::log(std::max(1e-6, *value));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return portable::exp(logs / static_cast<double>(count));
}

std::vector<MethodRatios> ratios_of(const std::vector<CompareRun>& runs, bool buffered) {
  std::vector<std::string> traces;
  std::vector<std::string> networks;
  std::vector<std::string> methods;
  for (const CompareRun& run : runs) {
    add_once(traces, run.trace);
    add_once(networks, run.network);
    add_once(methods, run.method);
  }
  std::vector<MethodRatios> all;
  if (std::find(methods.begin(), methods.end(), "reckoner") == methods.end()) return all;
  for (const std::string& network : networks) {
    for (const std::string& method : methods) {
      if (method == "reckoner") continue;
      MethodRatios ratios{network, method, {}};
      for (const ComparedFigure& figure : compared_figures(buffered)) {
        if (const auto mean = mean_of(runs, network, method, figure, traces)) ratios.means.push_back(*mean);
      }
      all.push_back(std::move(ratios));
    }
  }
  return all;
}

}  // namespace reckoner::harness
