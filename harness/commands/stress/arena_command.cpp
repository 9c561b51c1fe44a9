// SPDX-License-Identifier: MIT
#include "harness/arena/arena.hpp"
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/replay/compare.hpp"
#include "harness/report/progress_bar.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct CallSwitch {
  const char* name;
  bool ArenaCalls::*call;
};
constexpr CallSwitch kCallSwitches[] = {{"arrival-times", &ArenaCalls::arrival_times},
                                        {"floors", &ArenaCalls::floors},
                                        {"short-lived", &ArenaCalls::short_lived},
                                        {"prediction", &ArenaCalls::prediction},
                                        {"pending", &ArenaCalls::pending}};

struct ArenaArguments {
  ArenaOptions options;
  std::vector<std::string> networks;
  std::vector<std::string> modes{"present", "adaptive"};
  std::vector<std::string> without;
  std::size_t threads = 0;
  std::string json;
};

struct ArenaRun {
  std::string network;
  std::string mode;
  ArenaOptions options;
  std::vector<ArenaFigure> figures;
};

std::optional<Error> switch_off(const std::string& name, ArenaCalls& calls) {
  bool known = false;
  for (const CallSwitch& item : kCallSwitches) {
    if (name != item.name && name != "all") continue;
    calls.*item.call = false;
    known = true;
  }
  if (!calls.short_lived) calls.prediction = false;
  return known ? std::nullopt : std::optional{Error{"--without " + name + ": there is no such call"}};
}

Result<std::vector<ArenaRun>> arena_runs(const ArenaArguments& arguments) {
  ArenaOptions options = arguments.options;
  for (const std::string& name : arguments.without) {
    if (const auto wrong = switch_off(name, options.calls)) return *wrong;
  }
  std::vector<ArenaRun> runs;
  for (const std::string& mode : arguments.modes) {
    options.mode = mode == "present" ? PlayoutMode::present : PlayoutMode::adaptive;
    for (const std::string& network : arguments.networks) {
      const auto link = find_network(network);
      if (!link) return Error{"--network " + network + ": there is no such network"};
      options.links = {*link, *link};
      runs.push_back({network, mode, options, {}});
    }
  }
  return runs;
}

// One table for each mode, with a column for each network.
void print_runs(const ArenaArguments& arguments, const std::vector<ArenaRun>& runs) {
  const std::size_t columns = arguments.networks.size();
  for (std::size_t first = 0; first < runs.size(); first += columns) {
    fmt::print("{:<42}", runs[first].mode);
    for (std::size_t i = first; i < first + columns; ++i)
      fmt::print("{:>10}", runs[i].network);
    fmt::print("\n");
    for (std::size_t row = 0; row < runs[first].figures.size(); ++row) {
      fmt::print("{:<42}", runs[first].figures[row].text);
      for (std::size_t i = first; i < first + columns; ++i)
        fmt::print("{:>10.{}f}", runs[i].figures[row].value, runs[i].figures[row].decimals);
      fmt::print("\n");
    }
    fmt::print("\n");
  }
}

nlohmann::ordered_json arena_json(const std::vector<ArenaRun>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ArenaRun& run : runs) {
    nlohmann::ordered_json json{{"network", run.network}, {"mode", run.mode}};
    for (const CallSwitch& item : kCallSwitches)
      json["calls"][item.name] = run.options.calls.*item.call;
    for (const ArenaFigure& figure : run.figures)
      json[figure.key] = figure.value;
    all.push_back(std::move(json));
  }
  return all;
}

int run_arena_command(const ArenaArguments& arguments) {
  auto runs = arena_runs(arguments);
  if (!runs) return report_error(runs.error());
  std::atomic<std::size_t> done{0};
  for_each_parallel(runs->size(), arguments.threads, [&](std::size_t i) {
    (*runs)[i].figures = run_arena((*runs)[i].options);
    ++done;
    if (i == 0 || done == runs->size())
      show_progress(fmt::format("{} of {} runs", done.load(), runs->size()),
                    static_cast<double>(done) / static_cast<double>(runs->size()));
  });
  end_progress();
  print_runs(arguments, *runs);
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, arena_json(*runs)))
      return report_error(wrong->message, program::kFailed);
  }
  return program::kOk;
}

}  // namespace

void add_arena_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "arena", "play an arena game in virtual time, and measure what its players see over each network");
  auto arguments = std::make_shared<ArenaArguments>();
  for (const NamedNetwork& network : named_networks())
    arguments->networks.emplace_back(network.name);
  ArenaOptions& options = arguments->options;
  command->add_option("--network", arguments->networks, "named networks")->delimiter(',');
  command->add_option("--mode", arguments->modes, "modes of the players")
      ->delimiter(',')
      ->check(CLI::IsMember({"present", "adaptive"}));
  std::string names;
  for (const CallSwitch& item : kCallSwitches)
    names += std::string(item.name) + ", ";
  command
      ->add_option("--without", arguments->without,
                   "calls of the library that the game does not make, to see what they are good for: " +
                       names + "or all")
      ->delimiter(',');
  command->add_option("--players", options.players, "number of players, each with an avatar")
      ->check(CLI::Range(1, 60));
  command->add_option("--bots", options.bots, "bots that dash, jump and shoot")->check(CLI::Range(1, 1000));
  command->add_option("--riders", options.riders, "bodies that stand and walk on the platform")
      ->check(CLI::Range(0, 200));
  command->add_option("--seconds", options.seconds, "virtual time of each run, s; the first 5 s do not count")
      ->check(CLI::Range(10.0, 3600.0));
  command->add_option("--seed", options.seed, "seed of the game and of the networks");
  command->add_option("--threads", arguments->threads, "number of parallel runs (default: one per core)");
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "Examples:\n"
      "  reckoner-harness arena\n"
      "  reckoner-harness arena --network intercity --without short-lived,floors");
  command->callback([arguments, &exit_code] { exit_code = run_arena_command(*arguments); });
}

}  // namespace reckoner::harness
