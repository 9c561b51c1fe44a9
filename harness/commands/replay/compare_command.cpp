// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/replay/ablation.hpp"
#include "harness/replay/compare.hpp"
#include "harness/replay/error_split.hpp"
#include "harness/replay/method.hpp"
#include "harness/report/compare_output.hpp"
#include "harness/report/error_split_output.hpp"
#include "harness/report/progress_bar.hpp"
#include "harness/report/report.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kMinLifeS = 10.0;  // traces whose busiest entity exists for a shorter time are skipped

struct CompareArguments {
  program::SourceOptions source;
  std::vector<std::string> traces;
  std::vector<std::string> scenarios;
  LinkArguments link;
  std::vector<std::string> networks;
  std::vector<std::string> methods = method_names();
  bool ablate = false;
  bool equal_error = false;
  bool split = false;
  std::vector<std::uint64_t> seeds{1, 2, 3};
  std::size_t threads = 0;
  RunArguments run;
  std::string json;
  std::string report;
};

bool too_short(const program::SourceOptions& options, const scenario::Source& source) {
  if (options.trace.empty() || options.entity != "busiest" || source.size() != 1) return false;
  const double least_s = options.seconds > 0.0 ? std::min(options.seconds, kMinLifeS) : kMinLifeS;
  return source.entity(0).last_s - source.entity(0).first_s < least_s - 0.1;
}

std::optional<Error> open_sources(const CompareArguments& arguments, Comparison& comparison) {
  const auto open = [&](const std::string& trace, const std::string& scenario) -> std::optional<Error> {
    program::SourceOptions options = arguments.source;
    options.trace = trace;
    options.scenario = scenario;
    auto source = program::open_source(options);
    if (!source) return Error{source.error()};
    if (too_short(options, **source)) {
      fmt::print(stderr, "skipped {}: its busiest entity exists for less than {:g} s\n", name_of(options),
                 kMinLifeS);
      return std::nullopt;
    }
    comparison.sources.push_back({name_of(options), std::move(*source)});
    return std::nullopt;
  };
  for (const std::string& trace : arguments.traces) {
    if (auto wrong = open(trace, {})) return wrong;
  }
  for (const std::string& scenario : arguments.scenarios) {
    if (auto wrong = open({}, scenario)) return wrong;
  }
  if (comparison.sources.empty()) return Error{"nothing to compare: name --trace FILE or --scenario NAME"};
  return std::nullopt;
}

Result<Comparison> comparison_of(const CompareArguments& arguments) {
  Comparison comparison;
  comparison.methods = arguments.ablate ? std::vector<std::string>{"reckoner"} : arguments.methods;
  if (arguments.ablate) {
    for (const Ablation& part : ablations())
      comparison.methods.emplace_back(part.name);
  }
  comparison.seeds = arguments.seeds;
  comparison.threads = arguments.threads;
  LinkArguments link = arguments.link;
  auto networks = arguments.networks;
  if (networks.empty()) networks.emplace_back();
  program::SourceOptions source = arguments.source;
  // Traces are cut when they are read, and scenarios begin at --start. All sources of a comparison share one
  // ReplayOptions, so a start cannot apply to both kinds.
  source.trace = arguments.traces.empty() ? "" : arguments.traces.front();
  if (!arguments.traces.empty() && !arguments.scenarios.empty() && source.start_s > 0.0) {
    return Error{"--start cannot be used with traces and scenarios together"};
  }
  for (const std::string& network : networks) {
    link.network = network;
    auto options = replay_options(arguments.run, source, link);
    if (!options) return Error{options.error()};
    comparison.networks.push_back({link.name(), options->links});
    comparison.options = std::move(*options);
  }
  if (const auto wrong = open_sources(arguments, comparison)) return *wrong;
  return comparison;
}

void show_runs(std::size_t done, std::size_t all) {
  const double share = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, all));
  show_progress(fmt::format("{} of {} runs", done, all), share);
  if (done == all) end_progress();
}

int run_equal_error(const CompareArguments& arguments, Comparison comparison) {
  if (!is_buffered(comparison.options.playout.mode)) comparison.options.playout.mode = PlayoutMode::adaptive;
  const auto all = bytes_at_equal_error(comparison, show_runs);
  if (!all) return report_error(all.error());
  fmt::print("{}", equal_error_table(*all));
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, equal_error_json(*all))) {
      return report_error(wrong->message, program::kFailed);
    }
  }
  return 0;
}

int run_compare(const CompareArguments& arguments) {
  const auto comparison = comparison_of(arguments);
  if (!comparison) return report_error(comparison.error());
  if (arguments.equal_error) return run_equal_error(arguments, *comparison);
  if (arguments.split) {
    if (const auto wrong = find_unsplittable(comparison->options))
      return report_error("--split: " + wrong->message);
  }
  const auto compared = compare(*comparison, show_runs);
  if (!compared) return report_error(compared.error());
  const bool buffered = is_buffered(comparison->options.playout.mode);
  fmt::print("{}", compare_table(*compared, buffered));
  auto json = compare_json(*compared, buffered, arguments.run.mode);
  if (arguments.split) {
    const auto splits = split_errors(*comparison, show_runs);
    if (!splits) return report_error(splits.error());
    fmt::print("\n{}", error_split_table(*splits));
    json["error_split"] = error_split_json(*splits);
  }
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, json)) {
      return report_error(wrong->message, program::kFailed);
    }
  }
  if (!arguments.report.empty()) {
    const auto page = write_report(*comparison, compared->pooled, arguments.report);
    if (!page) return report_error(page.error(), program::kFailed);
    fmt::print("report written to {}\n", *page);
  }
  return 0;
}

// Replaces an option of a replay by one that takes a list.
template <class T>
void add_list(CLI::App& command, const std::string& replaced, const std::string& names, std::vector<T>& list,
              const std::string& help, char delimiter = ',') {
  if (auto* option = command.get_option_no_throw(replaced)) command.remove_option(option);
  command.add_option(names, list, help)->delimiter(delimiter)->group("Compared");
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "compare", "replay traces over networks with every method on all cores, and compare the methods");
  auto arguments = std::make_shared<CompareArguments>();
  program::add_source_options(*command, arguments->source);
  add_link_options(*command, arguments->link);
  add_run_options(*command, arguments->run);
  // File names may contain commas, so traces have no delimiter.
  add_list(*command, "--trace", "--trace", arguments->traces, "recorded motions, CSV files", '\0');
  add_list(*command, "--scenario", "--scenario", arguments->scenarios, "built-in motions");
  add_list(*command, "--network", "--network", arguments->networks, "named networks");
  add_list(*command, "--method", "--methods,--method", arguments->methods, "methods to compare");
  add_list(*command, "--seed", "--seeds,--seed", arguments->seeds,
           "of the network's randomness; the table shows figures of all pictures of all seeds together");
  std::string parts;
  for (const Ablation& part : ablations())
    parts += (parts.empty() ? "" : ", ") + std::string{part.name};
  command
      ->add_flag("--ablate", arguments->ablate,
                 "compare Reckoner with itself with one part switched off at a time: " + parts)
      ->group("Compared")
      ->excludes("--methods");
  command
      ->add_flag("--equal-error", arguments->equal_error,
                 "measure the bytes that Reckoner needs to reach the shown error of lerp-buffer at 20 "
                 "updates a second (uses the adaptive mode unless --mode names another buffered one)")
      ->group("Compared")
      ->excludes("--methods")
      ->excludes("--ablate");
  command
      ->add_flag(
          "--split", arguments->split,
          "also split Reckoner's p95 same-time error in present mode into its causes. Removes one after "
          "another: the blend (without-blend), then all loss, then all delay (age); the rest is "
          "prediction. So the parts add up to the error. Without --methods, compares only reckoner and "
          "snap")
      ->group("Compared")
      ->excludes("--ablate")
      ->excludes("--equal-error");
  command->add_option("--threads", arguments->threads, "number of parallel runs (default: one per core)");
  command->add_option(
      "--transport", arguments->run.transport,
      "sim: simulated network in virtual time; udp, enet: sockets on this machine in real time");
  command->add_option("--json", arguments->json, "write every run's figures and the ratios to this file")
      ->group("Output");
  command->add_option("--report", arguments->report, "write a page with plots, index.html, into this folder")
      ->group("Output");
  command->footer(
      "Example:\n"
      "  reckoner-harness compare --trace a.csv b.csv --entity busiest --seconds 60 --network intercity wifi "
      "\\\n"
      "      --updates-per-second 10 --methods reckoner,snap,projective --json figures.json");
  command->callback([arguments, command, &exit_code] {
    if (arguments->split && command->count("--methods") == 0) arguments->methods = {"reckoner", "snap"};
    exit_code = run_compare(*arguments);
  });
}

}  // namespace reckoner::harness
