// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/replay/compare.hpp"
#include "harness/replay/replay_arguments.hpp"
#include "harness/report/progress_bar.hpp"
#include "harness/report/report_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

constexpr const char* kOurs = "reckoner";
constexpr const char* kOther = "without-error-order";

struct BudgetArguments {
  std::vector<std::string> traces;
  std::vector<std::string> scenarios{"crowd", "traffic"};
  std::vector<std::size_t> entities{64, 300};
  std::vector<double> kbps{16.0, 32.0, 64.0, 128.0};
  std::vector<std::uint64_t> seeds{1, 2, 3};
  double seconds = 60.0;
  LinkArguments link;
  RunArguments run;
  std::string json;
};

// One world under one byte budget. The figures are means over the seeds.
struct BudgetCase {
  std::string source;
  std::size_t entities = 0;
  double kbps = 0.0;
  // p95 of the same-time error. In buffered modes, p95 of the error at the instant shown.
  double error_m = 0.0, other_error_m = 0.0;
  double bytes_per_s = 0.0, other_bytes_per_s = 0.0;  // to the client, with headers
  [[nodiscard]] double ratio() const { return other_error_m > 0.0 ? error_m / other_error_m : 1.0; }
};

Result<std::vector<NamedSource>> open_sources(const BudgetArguments& arguments, std::size_t entities) {
  std::vector<NamedSource> sources;
  const auto open = [&](const std::string& trace, const std::string& scenario) -> std::optional<Error> {
    program::SourceOptions options;
    options.trace = trace;
    options.scenario = scenario;
    options.entities = entities;
    options.timeline = scenario::Timeline::together;
    auto source = program::open_source(options);
    if (!source) return Error{source.error()};
    sources.push_back({name_of(options), std::move(*source)});
    return std::nullopt;
  };
  for (const std::string& scenario : arguments.scenarios) {
    if (auto wrong = open({}, scenario)) return *std::move(wrong);
  }
  for (const std::string& trace : arguments.traces) {
    if (auto wrong = open(trace, {})) return *std::move(wrong);
  }
  return sources;
}

// The p95 of the error, m, and the bytes to the client per second.
struct RunFigures {
  double error_m = 0.0;
  double bytes_per_s = 0.0;
};

// Runs every source with both orders and every seed, and adds a case for each source.
std::optional<Error> add_cases(const std::vector<NamedSource>& sources, std::size_t entities, double kbps,
                               const ReplayOptions& options, const std::vector<std::uint64_t>& seeds,
                               std::vector<BudgetCase>& cases) {
  const std::size_t per_source = 2 * seeds.size();
  std::vector<Result<RunFigures>> runs(sources.size() * per_source, RunFigures{});
  for_each_parallel(runs.size(), 0, [&](std::size_t i) {
    ReplayOptions one = options;
    one.method = i % 2 == 0 ? kOurs : kOther;
    one.seed = seeds[i % per_source / 2];
    const auto result = replay(*sources[i / per_source].source, one);
    if (!result) {
      runs[i] = Error{result.error()};
      return;
    }
    const bool buffered = options.playout.mode != PlayoutMode::present;
    runs[i] = RunFigures{(buffered ? result->run.shown_error_m : result->run.now_error_m).p95,
                         static_cast<double>(result->run.down->wire_bytes) / result->run.run_s};
  });
  for (std::size_t s = 0; s < sources.size(); ++s) {
    BudgetCase sum{.source = sources[s].name, .entities = entities, .kbps = kbps};
    for (std::size_t i = s * per_source; i < (s + 1) * per_source; ++i) {
      if (!runs[i]) return Error{runs[i].error()};
      const double share = 1.0 / static_cast<double>(seeds.size());
      (i % 2 == 0 ? sum.error_m : sum.other_error_m) += share * runs[i]->error_m;
      (i % 2 == 0 ? sum.bytes_per_s : sum.other_bytes_per_s) += share * runs[i]->bytes_per_s;
    }
    cases.push_back(std::move(sum));
  }
  return std::nullopt;
}

double mean_ratio(const std::vector<BudgetCase>& cases) {
  double sum = 0.0;
  for (const BudgetCase& one : cases)
    sum += std::log(one.ratio());
  return std::exp(sum / static_cast<double>(cases.size()));
}

const BudgetCase& worst_of(const std::vector<BudgetCase>& cases) {
  return *std::ranges::max_element(cases, {}, &BudgetCase::ratio);
}

void print(const std::vector<BudgetCase>& cases) {
  fmt::print("{:<26} {:>8} {:>7}   {:>11} {:>11}   {:>9} {:>9}   {:>6}\n", "", "", "", "p95 error,", "m",
             "bytes/s", "", "");
  fmt::print("{:<26} {:>8} {:>7}   {:>11} {:>11}   {:>9} {:>9}   {:>6}\n", "source", "entities", "kbit/s",
             "by error", "by waiting", "by error", "by wait.", "ratio");
  for (const BudgetCase& one : cases) {
    fmt::print("{:<26} {:>8} {:>7g}   {:>11.3f} {:>11.3f}   {:>9.0f} {:>9.0f}   {:>6.3f}\n", one.source,
               one.entities, one.kbps, one.error_m, one.other_error_m, one.bytes_per_s, one.other_bytes_per_s,
               one.ratio());
  }
  const BudgetCase& worst = worst_of(cases);
  fmt::print("geometric mean of the ratios: {:.3f}; largest: {:.3f} ({}, {} entities, {:g} kbit/s)\n",
             mean_ratio(cases), worst.ratio(), worst.source, worst.entities, worst.kbps);
}

nlohmann::ordered_json to_json(const std::vector<BudgetCase>& cases) {
  nlohmann::ordered_json json;
  json["ratio"] = mean_ratio(cases);
  json["largest_ratio"] = worst_of(cases).ratio();
  for (const BudgetCase& one : cases) {
    json["cases"].push_back({{"source", one.source},
                             {"entities", one.entities},
                             {"kbps", one.kbps},
                             {"error_m_p95", one.error_m},
                             {"error_m_p95_by_waiting", one.other_error_m},
                             {"wire_bytes_per_s", one.bytes_per_s},
                             {"wire_bytes_per_s_by_waiting", one.other_bytes_per_s},
                             {"ratio", one.ratio()}});
  }
  return json;
}

int run_budget(const BudgetArguments& arguments) {
  std::vector<BudgetCase> cases;
  double done = 0.0;
  const double all = static_cast<double>(arguments.entities.size() * arguments.kbps.size());
  for (const std::size_t entities : arguments.entities) {
    auto sources = open_sources(arguments, entities);
    if (!sources) return report_error(sources.error());
    if (sources->empty()) return report_error("nothing to run: name --trace FILE or --scenario NAME");
    for (const double kbps : arguments.kbps) {
      program::SourceOptions source;
      source.seconds = arguments.seconds;
      auto options = replay_options(arguments.run, source, arguments.link);
      if (!options) return report_error(options.error());
      options->budget.bytes_per_second = kbps * 125.0;
      if (const auto wrong = add_cases(*sources, entities, kbps, *options, arguments.seeds, cases))
        return report_error(wrong->message);
      show_progress(fmt::format("{} entities, {:g} kbit/s", entities, kbps), ++done / all);
    }
  }
  end_progress();
  std::ranges::stable_sort(cases, {}, [](const BudgetCase& one) { return one.source; });
  print(cases);
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, to_json(cases)))
      return report_error(wrong->message, program::kFailed);
  }
  return 0;
}

}  // namespace

void add_budget_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "budget",
      "measure what players see if not all updates fit into a client's byte budget: Reckoner sends those "
      "first that remove the most visible error per byte; the same without this order");
  auto arguments = std::make_shared<BudgetArguments>();
  add_link_options(*command, arguments->link);
  command->add_option("--trace", arguments->traces, "recorded motions, CSV files");
  command->add_option("--scenario", arguments->scenarios, "built-in motions")->delimiter(',');
  command->add_option("--entities", arguments->entities, "numbers of entities; traces are played in copies")
      ->delimiter(',')
      ->check(CLI::Range(1, 65'536));
  command->add_option("--kbps", arguments->kbps, "byte budgets of the client, 1000 bits per second")
      ->delimiter(',')
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--seconds", arguments->seconds, "length of each run, s")
      ->check(CLI::Range(5.0, 3600.0));
  command->add_option("--seeds", arguments->seeds, "seeds of the network's random numbers")->delimiter(',');
  command->add_option("--mode", arguments->run.mode, "present, adaptive or delayed:MS")->group("Client");
  command->add_option("--json", arguments->json, "write all cases to this file")->group("Output");
  command->callback([arguments, &exit_code] { exit_code = run_budget(*arguments); });
}

}  // namespace reckoner::harness
