// SPDX-License-Identifier: MIT
#include "harness/methods/equal_error.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "server/src/util/threads.hpp"

#include <cmath>
#include <mutex>
#include <optional>

namespace reckoner::harness {
namespace {

constexpr double kMinUpdatesPerS = 0.5;
constexpr int kHalvings = 9;  // number of bisection steps on a logarithmic scale; the accuracy is then 1 %

// Figures of one method, as means over all seeds.
struct SeedMeans {
  double error_m = 0.0;
  double bytes_per_s = 0.0;
};

Result<SeedMeans> mean_over_seeds(const Comparison& comparison, const scenario::Source& source,
                                  const LinkPair& links, const std::string& method,
                                  const SendBudget& budget) {
  SeedMeans mean;
  for (const std::uint64_t seed : comparison.seeds) {
    ReplayOptions options = comparison.options;
    options.method = method;
    options.links = links;
    options.budget.updates_per_second = budget.updates_per_second;
    options.budget.fixed_rate_hz = budget.fixed_rate_hz;
    options.seed = seed;
    const auto result = replay(source, options);
    if (!result) return Error{result.error()};
    if (const auto unshown = find_unshown(*result)) return Error{method + ": " + unshown->message};
    const Figures& figures = result->run;
    const auto runs = static_cast<double>(comparison.seeds.size());
    mean.error_m += figures.shown_error_m.p95 / runs;
    if (figures.down && figures.entity_seconds > 0.0)
      mean.bytes_per_s += static_cast<double>(figures.down->wire_bytes) / figures.entity_seconds / runs;
  }
  return mean;
}

// Finds the budget for one source and network. Calls `report_progress` after every budget tried.
Result<EqualError> search(const Comparison& comparison, const NamedSource& source, const NamedLinks& network,
                          const std::function<void()>& report_progress) {
  const auto plain = mean_over_seeds(comparison, *source.source, network.links, "lerp-buffer",
                                     {.fixed_rate_hz = kPlainUpdatesPerS});
  if (!plain) return Error{plain.error()};
  report_progress();
  EqualError found{source.name,     network.name, plain->error_m, plain->bytes_per_s,
                   kMaxUpdatesPerS, 0.0,          false};
  const auto attempt = [&](double updates_per_second) -> std::optional<Error> {
    const auto spent = mean_over_seeds(comparison, *source.source, network.links, "reckoner",
                                       {.updates_per_second = updates_per_second});
    if (!spent) return Error{spent.error()};
    report_progress();
    const bool good = spent->error_m <= found.error_m;
    if (!good && updates_per_second < kMaxUpdatesPerS) return std::nullopt;
    found.reached = good;
    found.updates_per_second = updates_per_second;
    found.bytes_per_s = spent->bytes_per_s;
    return std::nullopt;
  };
  if (const auto wrong = attempt(kMaxUpdatesPerS)) return *wrong;
  double too_few = kMinUpdatesPerS;
  for (int i = 0; i < kHalvings; ++i) {
    if (!found.reached) {
      report_progress();
      continue;
    }
    const double middle = std::sqrt(too_few * found.updates_per_second);
    if (const auto wrong = attempt(middle)) return *wrong;
    if (found.updates_per_second != middle) too_few = middle;
  }
  return found;
}

}  // namespace

Result<std::vector<EqualError>> bytes_at_equal_error(
    const Comparison& comparison, const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::size_t pairs = comparison.sources.size() * comparison.networks.size();
  std::vector<EqualError> all(pairs);
  std::vector<std::optional<Error>> wrong(pairs);
  Mutex mutex;
  std::size_t done = 0;
  const auto report_progress = [&] {
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, pairs * (kHalvings + 2));
  };
  for_each_parallel(pairs, comparison.threads, [&](std::size_t i) {
    const NamedSource& source = comparison.sources[i / comparison.networks.size()];
    const NamedLinks& network = comparison.networks[i % comparison.networks.size()];
    auto found = search(comparison, source, network, report_progress);
    if (found) {
      all[i] = std::move(*found);
    } else {
      wrong[i] = Error{source.name + " over " + network.name + ": " + found.error()};
    }
  });
  for (const auto& error : wrong) {
    if (error) return *error;
  }
  return all;
}

double mean_ratio(const std::vector<EqualError>& all, const std::string& network) {
  double logs = 0.0;
  std::size_t count = 0;
  for (const EqualError& one : all) {
    if (one.network != network) continue;
    logs += portable::log(clamped_ratio(one.bytes_per_s, one.plain_bytes_per_s));
    ++count;
  }
  return count == 0 ? 0.0 : portable::exp(logs / static_cast<double>(count));
}

}  // namespace reckoner::harness
