// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/commands/football/football_arguments.hpp"
#include "harness/commands/football/football_output.hpp"
#include "harness/metrics/figures_json.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/prediction/football_run.hpp"
#include "harness/replay/method.hpp"
#include "harness/sim/packet_log.hpp"
#include "net/src/codec/codes_text.hpp"
#include "scenario/trace/output_file.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct ReplayArguments {
  program::SourceOptions source;
  LinkArguments link;
  RunArguments run;
  FootballArguments game;        // with the scenario football
  std::string used_game_option;  // the first option of the game on the command line; empty: none
  std::string rendered;
  std::string packets;
  std::string json;
  std::string codes;
  std::string learn_codes;
};

// Returns nullopt if a run showed no entity in a measured picture, or if there is no error to divide by.
std::optional<double> owned_error_ratio(const Figures& owned, const Figures& server_side) {
  constexpr double kNoErrorM = 1e-6;
  if (owned.frames.counted == 0 || server_side.frames.counted == 0) return std::nullopt;
  if (server_side.now_error_m.p95 < kNoErrorM) return std::nullopt;
  return owned.now_error_m.p95 / server_side.now_error_m.p95;
}

nlohmann::ordered_json run_json(const ReplayArguments& arguments, const scenario::Source& source,
                                const ReplayResult& result, const std::optional<Figures>& server_side) {
  nlohmann::ordered_json run;
  run["trace"] = name_of(arguments.source);
  run["network"] = arguments.link.name();
  run["method"] = arguments.run.options.method;
  run["seed"] = arguments.run.options.seed;
  run["mode"] = arguments.run.mode;
  run["transport"] = arguments.run.transport;
  if (!arguments.run.client_clock.empty()) run["client_clock"] = arguments.run.client_clock;
  if (result.real_time) {
    run["real_time"] = {{"latest_tick_ms", result.real_time->latest_tick_ms},
                        {"dropped_frames", result.real_time->dropped_pictures}};
  }
  run.update(figures_json(result.run));
  if (server_side) {
    run["owner_network"] = arguments.run.owner_network.empty() ? "wifi" : arguments.run.owner_network;
    run["server_side_now_error_m"] = {{"p95", server_side->now_error_m.p95},
                                      {"p99", server_side->now_error_m.p99}};
    const auto ratio = owned_error_ratio(result.run, *server_side);
    run["owned_error_ratio"] = ratio ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json(nullptr);
  }
  if (result.routes) run.update(figures_json(*result.routes));
  if (result.coding) run["coding"] = figures_json(*result.coding);
  run["entities"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < source.size(); ++i) {
    nlohmann::ordered_json entity{{"id", source.entity(i).name}, {"offset_s", source.entity(i).offset_s}};
    entity.update(figures_json(result.entities[i]));
    run["entities"].push_back(std::move(entity));
  }
  return run;
}

// The text of a file that --learn-codes has written.
Result<std::string> read_codes_file(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Error{"cannot read " + path};
  if (!read_codes(text)) return Error{path + " was not written by --learn-codes"};
  return text;
}

// The options of the run for comparison: the server moves the entities itself, and the link is as long as
// both links together.
ReplayOptions owned_by_server(const ReplayOptions& owned) {
  ReplayOptions options = owned;
  options.links = combined_links(*owned.owner_links, owned.links);
  options.owner_links.reset();
  options.log_packets = false;
  return options;
}

// The game with inputs that belongs to the scenario football.
struct PlayersGame {
  football::FootballOptions options;
  std::vector<std::uint64_t> seeds;
  std::vector<football::FootballFigures> methods;
};

// The players' game has the network, the rates and the playout of the replay.
Result<PlayersGame> players_game(const ReplayArguments& arguments, const ReplayOptions& replay) {
  if (replay.transport != ReplayTransport::sim) return Error{"it runs only with --transport sim"};
  if (!arguments.run.client_clock.empty()) return Error{"it has no --client-clock"};
  if (replay.playout.mode == PlayoutMode::delayed || !replay.switches.empty())
    return Error{"it has only the modes present and adaptive, without --switch-to"};
  FootballArguments game = arguments.game;
  game.options.links = replay.links;
  game.options.script = replay.link_script;
  game.options.mode = replay.playout.mode;
  game.options.tick_rate_hz = replay.tick_rate_hz;
  game.options.frame_rate_hz = replay.frame_rate_hz;
  game.options.send_rate_hz = replay.budget.send_rate_hz;
  game.options.seconds = replay.seconds;
  auto options = football_options(game);
  if (!options) return Error{options.error()};
  PlayersGame out{std::move(*options), game.seeds, {}};
  if (out.seeds.empty()) out.seeds = {replay.seed};
  return out;
}

// Adds the players' game to the JSON of the replay: every method, and, if the replay shows Reckoner, its
// figures beside those of the replay, too.
void add_game(nlohmann::ordered_json& run, const ReplayArguments& arguments, const PlayersGame& game) {
  for (const football::FootballFigures& method : game.methods) {
    if (method.method != "reckoner" || arguments.run.options.method != "reckoner") continue;
    auto own = figures_json(method);
    own.erase("method");
    own.erase("pictures");
    run.update(own);
  }
  run["players_game"] = football_json(game.options, game.seeds, game.methods);
}

int run_replay(const ReplayArguments& arguments) {
  if (arguments.source.scenario != "football" && !arguments.used_game_option.empty()) {
    return report_error(arguments.used_game_option + " is only for --scenario football", program::kBadInput);
  }
  auto options = replay_options(arguments.run, arguments.source, arguments.link);
  if (!options) return report_error(options.error(), program::kBadInput);
  const auto source = program::open_source(arguments.source);
  if (!source) return report_error(source.error(), program::kBadInput);
  std::optional<PlayersGame> game;
  if (arguments.source.scenario == "football") {
    auto made = players_game(arguments, *options);
    if (made) {
      game = std::move(*made);
    } else if (!arguments.used_game_option.empty()) {
      return report_error("the players' game is not possible: " + made.error(), program::kBadInput);
    } else {
      fmt::print("players' game left out: {}\n", made.error());
    }
  }
  options->log_packets = !arguments.packets.empty();
  if (!arguments.codes.empty()) {
    const auto codes = read_codes_file(arguments.codes);
    if (!codes) return report_error(codes.error(), program::kBadInput);
    options->budget.codes = *codes;
  }

  std::optional<scenario::PoseCsvWriter> rendered;
  if (!arguments.rendered.empty()) {
    auto writer = scenario::PoseCsvWriter::open(arguments.rendered, {.shown_time = true, .monotonic = false});
    if (!writer) return report_error(writer.error(), program::kBadInput);
    rendered = std::move(*writer);
  }
  PictureSink sink;
  if (rendered) {
    sink = [&rendered, &source](double frame_time_s, std::span<const ShownPose> shown) {
      for (const ShownPose& pose : shown) {
        rendered->write(
            {frame_time_s, (*source)->entity(pose.entity).name, pose.pose, pose.shown_time_s, {}});
      }
    };
  }
  const auto before = std::chrono::steady_clock::now();
  const auto result = replay(**source, *options, sink);
  if (!result) return report_error(result.error(), program::kBadInput);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  fmt::print("{} over {}, {}, seed {}: {:.1f} entity-seconds in {:.2f} s\n", name_of(arguments.source),
             arguments.link.name(), arguments.run.options.method, arguments.run.options.seed,
             result->run.entity_seconds, took.count());
  if (const auto& real = result->real_time) {
    fmt::print("  in real time over UDP; largest delay of a tick {:.1f} ms, {} pictures dropped\n",
               real->latest_tick_ms, real->dropped_pictures);
  }
  const auto unshown = find_unshown(*result);
  if (!unshown) {
    if (!result->hidden_reason.empty()) fmt::print("  note: {}\n", result->hidden_reason);
    print_figures(result->run);
    if (result->coding) print_figures(*result->coding);
  }
  std::optional<Figures> server_side;
  if (options->owner_links && !unshown) {
    const auto other = replay(**source, owned_by_server(*options));
    if (!other) return report_error(other.error(), program::kBadInput);
    if (const auto hidden = find_unshown(*other)) return report_error(hidden->message, program::kFailed);
    server_side = other->run;
    const auto ratio = owned_error_ratio(result->run, *server_side);
    fmt::print(
        "  server-side       p95 {:.3f} m if the server moves the entities, over a link as long as both "
        "links: {}\n",
        server_side->now_error_m.p95, ratio ? fmt::format("ratio {:.2f}", *ratio) : "no ratio");
  }

  if (game && !unshown) {
    game->methods = football::play_football(game->options, game->seeds);
    fmt::print("\n{}", football_text(game->options, arguments.link.name(), game->seeds, game->methods));
  }

  if (rendered && !rendered->close()) {
    return report_error("could not write all of " + arguments.rendered, program::kFailed);
  }
  if (!arguments.packets.empty()) {
    if (const auto wrong = write_packets(arguments.packets, result->packets)) {
      return report_error(wrong->message, program::kFailed);
    }
  }
  if (unshown) return report_error(unshown->message, program::kFailed);
  if (!arguments.learn_codes.empty() && result->coding) {
    if (const auto wrong = scenario::write_file(arguments.learn_codes, result->coding->fitted_codes + "\n"))
      return report_error(wrong->message, program::kFailed);
  }
  if (!arguments.json.empty()) {
    auto run = run_json(arguments, **source, *result, server_side);
    if (game) add_game(run, arguments, *game);
    if (const auto wrong = write_json(arguments.json, run)) {
      return report_error(wrong->message, program::kFailed);
    }
  }
  return 0;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "replay", "replay motion through a server, a network and a client, and measure the result");
  auto arguments = std::make_shared<ReplayArguments>();
  program::add_source_options(*command, arguments->source);
  add_link_options(*command, arguments->link);
  add_run_options(*command, arguments->run);
  add_football_options(*command, arguments->game);
  std::string methods;
  for (const std::string& name : method_names())
    methods += (methods.empty() ? "" : ", ") + name;
  command->add_option("--method", arguments->run.options.method,
                      "the method that transfers and shows motion: " + methods);
  command->add_option(
      "--transport", arguments->run.transport,
      "sim: simulated network in virtual time; udp, enet: sockets on this machine in real time");
  command->add_option("--codes", arguments->codes, "use the prefix codes in this file of --learn-codes");
  command
      ->add_option("--learn-codes", arguments->learn_codes,
                   "write the prefix codes that suit this motion best to this file (Archetype::codes)")
      ->group("Output");
  command->add_option("--rendered", arguments->rendered, "write every shown pose to this CSV")
      ->group("Output");
  command->add_option("--packets", arguments->packets, "write every datagram to this CSV")->group("Output");
  command->add_option("--json", arguments->json, "write the figures to this file")->group("Output");
  command->footer(
      "Example: what a player on a mobile network sees of a duel, and how many bytes that takes:\n"
      "  reckoner-harness replay --trace duel.csv --network mobile --json duel.json\n"
      "With the same network and input, but without Reckoner:\n"
      "  reckoner-harness replay --trace duel.csv --network mobile --method snap\n"
      "How players see their own cars, also with other methods:\n"
      "  reckoner-harness replay --scenario football --network intercity");
  command->callback([arguments, command, &exit_code] {
    arguments->used_game_option = used_football_option(*command);
    exit_code = run_replay(*arguments);
  });
}

}  // namespace reckoner::harness
