// SPDX-License-Identifier: MIT
#include "harness/report/compare_output.hpp"

#include "harness/metrics/figures_json.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace reckoner::harness {

using Json = nlohmann::ordered_json;

std::vector<std::string> distinct(const std::vector<CompareRun>& runs, std::string CompareRun::*member) {
  std::vector<std::string> names;
  for (const CompareRun& run : runs) {
    if (std::find(names.begin(), names.end(), run.*member) == names.end()) names.push_back(run.*member);
  }
  return names;
}

namespace {

Json ratios_json(const std::vector<MethodRatios>& all) {
  Json json = Json::array();
  for (const MethodRatios& ratios : all) {
    Json one{{"network", ratios.network}, {"method", ratios.method}};
    for (const MethodRatios::Mean& mean : ratios.means) {
      one[mean.figure] = {{"ratio", mean.ratio},
                          {"worst", mean.worst},
                          {"worst_trace", mean.worst_trace},
                          {"traces", mean.traces}};
    }
    json.push_back(std::move(one));
  }
  return json;
}

// A run that showed too little has no figures, only the reason.
void add_figures(Json& json, const CompareRun& run) {
  if (run.unshown.empty()) {
    json.update(figures_json(run.figures));
  } else {
    json["unshown"] = run.unshown;
  }
}

}  // namespace

Json compare_json(const Compared& compared, bool buffered, const std::string& mode) {
  Json json;
  json["mode"] = mode;
  json["runs"] = Json::array();
  for (const CompareRun& run : compared.runs) {
    Json one{
        {"trace", run.trace}, {"network", run.network}, {"method", run.method}, {"seed", run.seeds.front()}};
    add_figures(one, run);
    json["runs"].push_back(std::move(one));
  }
  json["ratios"] = ratios_json(ratios_of(compared.runs, buffered));
  json["pooled"] = Json::array();
  for (const CompareRun& run : compared.pooled) {
    Json one{{"trace", run.trace}, {"network", run.network}, {"method", run.method}, {"seeds", run.seeds}};
    add_figures(one, run);
    json["pooled"].push_back(std::move(one));
  }
  json["pooled_ratios"] = ratios_json(ratios_of(compared.pooled, buffered));
  return json;
}

std::string compare_table(const Compared& compared, bool buffered) {
  const std::vector<CompareRun>& runs = compared.pooled;
  const auto traces = distinct(runs, &CompareRun::trace);
  const auto methods = distinct(runs, &CompareRun::method);
  const ComparedFigure error = compared_figures(buffered).front();
  const auto ratios = ratios_of(runs, buffered);
  std::size_t wide = 26;
  for (const std::string& trace : traces)
    wide = std::max(wide, trace.size());
  std::string text;
  for (const std::string& network : distinct(runs, &CompareRun::network)) {
    const std::size_t seeds = runs.front().seeds.size();
    text += fmt::format("{}: 95th percentile of the {} error, m{}\n  {:{}}", network,
                        buffered ? "shown" : "same-time",
                        seeds > 1 ? fmt::format("; all pictures of {} seeds together", seeds) : "", "", wide);
    for (const std::string& method : methods)
      text += fmt::format(" {:>14}", method);
    for (const std::string& trace : traces) {
      text += fmt::format("\n  {:{}}", trace, wide);
      for (const std::string& method : methods) {
        const auto value = seed_mean(runs, trace, network, method, error);
        text += value ? fmt::format(" {:14.4f}", *value) : fmt::format(" {:>14}", "-");
      }
    }
    text += "\n";
    for (const ComparedFigure& figure : compared_figures(buffered)) {
      std::string row;
      for (const std::string& method : methods) {
        std::string cell = "-";
        for (const MethodRatios& one : ratios) {
          if (one.network != network || one.method != method) continue;
          for (const MethodRatios::Mean& mean : one.means) {
            if (mean.figure == figure.name) cell = fmt::format("{:.3f}", mean.ratio);
          }
        }
        row += fmt::format(" {:>14}", cell);
      }
      text += fmt::format("  {:{}}{}\n", std::string("x ") + figure.name, wide, row);
    }
    text += "\n";
  }
  for (const CompareRun& run : runs) {
    if (!run.unshown.empty())
      text +=
          fmt::format("no figures of {}, {} over {}: {}\n", run.method, run.trace, run.network, run.unshown);
  }
  if (!ratios.empty()) {
    text += fmt::format(
        "x: Reckoner divided by the method, geometric mean over the traces, each ratio at least {}. Below 1, "
        "Reckoner is better.\n",
        kMinRatio);
  }
  return text;
}

namespace {

std::vector<std::string> networks_of(const std::vector<EqualError>& all) {
  std::vector<std::string> names;
  for (const EqualError& one : all) {
    if (std::find(names.begin(), names.end(), one.network) == names.end()) names.push_back(one.network);
  }
  return names;
}

}  // namespace

std::string equal_error_table(const std::vector<EqualError>& all) {
  std::size_t wide = 26;
  for (const EqualError& one : all)
    wide = std::max(wide, one.trace.size());
  std::string text;
  for (const std::string& network : networks_of(all)) {
    text += fmt::format(
        "{}: bytes on the wire per entity and second to reach the error of lerp-buffer at {:g} updates a "
        "second\n"
        "  {:{}} {:>10} {:>12} {:>12} {:>12} {:>8}\n",
        network, kPlainUpdatesPerS, "", wide, "error, m", "lerp-buffer", "reckoner", "at updates/s", "ratio");
    for (const EqualError& one : all) {
      if (one.network != network) continue;
      text += fmt::format("  {:{}} {:10.4f} {:12.0f} {:12.0f} {:12.1f} {:8.3f}{}\n", one.trace, wide,
                          one.error_m, one.plain_bytes_per_s, one.bytes_per_s, one.updates_per_second,
                          clamped_ratio(one.bytes_per_s, one.plain_bytes_per_s),
                          one.reached ? "" : "  (not reached)");
    }
    text += fmt::format("  {:{}} {:>58.3f}\n", "geometric mean", wide, mean_ratio(all, network));
  }
  return text;
}

Json equal_error_json(const std::vector<EqualError>& all) {
  Json json;
  json["equal_error"] = Json::array();
  for (const EqualError& one : all) {
    json["equal_error"].push_back({{"trace", one.trace},
                                   {"network", one.network},
                                   {"shown_error_m_p95", one.error_m},
                                   {"lerp_buffer_wire_bytes_per_s", one.plain_bytes_per_s},
                                   {"updates_per_second", one.updates_per_second},
                                   {"wire_bytes_per_s", one.bytes_per_s},
                                   {"reached", one.reached}});
  }
  for (const std::string& network : networks_of(all))
    json["mean_ratio"][network] = mean_ratio(all, network);
  return json;
}

}  // namespace reckoner::harness
