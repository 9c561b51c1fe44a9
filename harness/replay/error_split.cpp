// SPDX-License-Identifier: MIT
#include "harness/replay/error_split.hpp"

namespace reckoner::harness {
namespace {

Comparison only(const Comparison& comparison, std::vector<std::string> methods) {
  Comparison some = comparison;
  some.methods = std::move(methods);
  return some;
}

template <class Change>
Comparison with_links(Comparison comparison, const Change& change) {
  for (NamedLinks& network : comparison.networks) {
    change(network.links.up);
    change(network.links.down);
  }
  return comparison;
}

// A rate limit drops datagrams only because they wait for too long, so its losses belong to the delay.
void remove_loss(LinkOptions& link) {
  link.loss_percent = 0.0;
}
void remove_delay(LinkOptions& link) {
  link = {};
}

}  // namespace

std::optional<Error> find_unsplittable(const ReplayOptions& options) {
  if (options.playout.mode != PlayoutMode::present || !options.switches.empty())
    return Error{"only the error of present mode can be split, in a run that does not change its mode"};
  if (options.transport != ReplayTransport::sim)
    return Error{"only the error of virtual time can be split (transport sim), because sockets always delay"};
  if (!options.link_script.empty())
    return Error{"the error cannot be split if a script changes the link during the run"};
  if (options.owner_links)
    return Error{
        "the error of entities that a client owns cannot be split, because they travel over two links"};
  return std::nullopt;
}

Result<std::vector<ErrorSplit>> split_errors(const Comparison& comparison,
                                             const std::function<void(std::size_t, std::size_t)>& progress) {
  if (auto wrong = find_unsplittable(comparison.options)) return std::move(*wrong);
  const Comparison whole = only(comparison, {"reckoner", "snap"});
  const Comparison without_blend = only(comparison, {"without-blend"});
  const Comparison without_loss = with_links(without_blend, remove_loss);
  const Comparison without_delay = with_links(without_loss, remove_delay);

  const std::size_t groups = comparison.sources.size() * comparison.networks.size() * comparison.seeds.size();
  const std::size_t all = 5 * groups;
  std::size_t before = 0;
  std::vector<std::vector<CompareRun>> pooled;
  for (const Comparison* one : {&whole, &without_blend, &without_loss, &without_delay}) {
    auto compared = compare(*one, [&](std::size_t done, std::size_t) {
      if (progress) progress(before + done, all);
    });
    if (!compared) return Error{compared.error()};
    for (const CompareRun& run : compared->pooled) {
      if (!run.unshown.empty())
        return Error{run.trace + " over " + run.network + ", " + run.method + ": " + run.unshown};
    }
    before += one->methods.size() * groups;
    pooled.push_back(std::move(compared->pooled));
  }

  std::vector<ErrorSplit> splits;
  for (std::size_t i = 0; i < pooled[1].size(); ++i) {
    const CompareRun& reckoner = pooled[0][2 * i];
    const CompareRun& snap = pooled[0][2 * i + 1];
    const double error_m = reckoner.figures.now_error_m.p95;
    const double unblended_m = pooled[1][i].figures.now_error_m.p95;
    const double unlost_m = pooled[2][i].figures.now_error_m.p95;
    const double undelayed_m = pooled[3][i].figures.now_error_m.p95;
    splits.push_back({.trace = reckoner.trace,
                      .network = reckoner.network,
                      .seeds = reckoner.seeds,
                      .error_m = error_m,
                      .prediction_m = undelayed_m,
                      .age_m = unlost_m - undelayed_m,
                      .blend_m = error_m - unblended_m,
                      .loss_m = unblended_m - unlost_m,
                      .snap_m = snap.figures.now_error_m.p95});
  }
  return splits;
}

}  // namespace reckoner::harness
