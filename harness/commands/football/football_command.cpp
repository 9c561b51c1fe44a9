// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/commands/football/football_arguments.hpp"
#include "harness/commands/football/football_output.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/prediction/football_run.hpp"
#include "harness/report/progress_bar.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct FootballCommand {
  FootballArguments game;
  std::vector<std::string> networks;
  std::size_t threads = 0;
  std::string json;
};

int run_football_command(const FootballCommand& arguments) {
  auto options = football_options(arguments.game);
  if (!options) return report_error(options.error());
  std::vector<LinkPair> links;
  for (const std::string& network : arguments.networks) {
    auto link = links_of({.network = network});
    if (!link) return report_error(link.error());
    links.push_back(*link);
  }
  nlohmann::ordered_json all{{"runs", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < links.size(); ++i) {
    options->links = links[i];
    const std::string& network = arguments.networks[i];
    const auto methods = football::play_football(
        *options, arguments.game.seeds, arguments.threads, [&](std::size_t done, std::size_t games) {
          show_progress(fmt::format("{}: {} of {} games", network, done, games),
                        static_cast<double>(done) / static_cast<double>(games));
        });
    end_progress();
    fmt::print("{}", football_text(*options, network, arguments.game.seeds, methods));
    nlohmann::ordered_json run{{"network", network}};
    run.update(football_json(*options, arguments.game.seeds, methods));
    all["runs"].push_back(std::move(run));
  }
  if (arguments.json.empty()) return program::kOk;
  if (const auto wrong = write_json(arguments.json, all))
    return report_error(wrong->message, program::kFailed);
  return program::kOk;
}

}  // namespace

void add_football_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "football",
      "play car football in virtual time, and measure how each player sees the own car and the ball");
  auto arguments = std::make_shared<FootballCommand>();
  for (const NamedNetwork& network : named_networks())
    arguments->networks.emplace_back(network.name);
  arguments->game.seeds = {1};
  football::FootballOptions& options = arguments->game.options;
  command->add_option("--network", arguments->networks, "named networks")->delimiter(',');
  command->add_option("--seconds", options.seconds,
                      "virtual time of each game, s, after 8 s that do not count");
  command->add_option("--tick-rate", options.tick_rate_hz, "ticks of the server per second, 20 to 128");
  command->add_option("--frame-rate", options.frame_rate_hz, "pictures of each player per second, 30 to 240");
  command
      ->add_option("--send-rate", options.send_rate_hz,
                   "datagrams with motions per second to each client (default: in every tick)")
      ->check(CLI::PositiveNumber);
  add_football_options(*command, arguments->game);
  command->add_option("--threads", arguments->threads, "number of parallel games (default: one per core)");
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "Examples:\n"
      "  reckoner-harness football --network intercity\n"
      "  reckoner-harness football --seeds 1,2,3 --json football.json\n"
      "  reckoner-harness football --network lan --no-contacts --seconds 600");
  command->callback([arguments, &exit_code] { exit_code = run_football_command(*arguments); });
}

}  // namespace reckoner::harness
