// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "harness/stress/load/load_figures.hpp"
#include "harness/stress/load/load_run.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/system/standard_streams.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

using Json = nlohmann::ordered_json;

// Who attacks: programs that are not admitted, or clients that talk without end.
enum class Attack : std::uint8_t { strangers, talk };

struct FloodArguments {
  Attack attack = Attack::strangers;
  LoadRunOptions run;
  std::size_t pairs = 3;
  std::string json;
};

// The figures that are compared between runs with and without the flood.
struct Figure {
  const char* name;
  const char* text;
};
constexpr Figure kFigures[] = {{"error_m_p99", "same-time error of a client, p99 (m)"},
                               {"tick_ms_p50", "tick, real time, p50 (ms)"},
                               {"tick_ms_p99", "tick, real time, p99 (ms)"},
                               {"cpu_s", "server's processor time (s)"}};

Json figures_of(const LoadResult& result) {
  Json figures;
  for (const char* name : {"tick_ms_p50", "tick_ms_p99", "late_ms_p99", "cpu_s", "datagrams_received",
                           "messages_received", "messages_sent", "clients_joined", "clients_left"})
    figures[name] = result.server.value(name, 0.0);
  double worst_m = 0.0;
  for (const auto& clients : result.clients)
    worst_m = std::max(worst_m, clients.value("error_m_p99", 0.0));
  figures["error_m_p99"] = worst_m;
  figures["late_joined"] = result.late_joined;
  if (!result.flood.is_null()) figures["flood"] = result.flood;
  return figures;
}

// Returns a message if the flooded run failed, whatever its figures are. Returns an empty string otherwise.
std::string failure_of(const FloodArguments& arguments, const Json& flooded) {
  const LoadRunOptions& options = arguments.run;
  if (flooded.value("clients_left", 0.0) > 0.0) return "an honest client was lost";
  if (flooded.value("late_joined", 0.0) < static_cast<double>(options.late))
    return "an honest client could not join";
  if (arguments.attack == Attack::talk) {
    // The server takes a few hundred messages per second from each client.
    const double least = 50.0 * static_cast<double>(options.talkers) * options.seconds *
                         std::min(1.0, 200.0 / static_cast<double>(options.talk_bytes));
    return flooded.value("messages_received", 0.0) < least ? "the talkers were not heard" : "";
  }
  const Json& flood = flooded["flood"];
  const double sent = flood.value("datagrams", 0.0) - flood.value("failed", 0.0);
  if (sent < 0.9 * options.flood_per_second * options.seconds) return "the flood did not reach its rate";
  if (flood.value("answered_bytes", 0.0) > flood.value("bytes", 0.0))
    return "the flood received more bytes than it sent";
  return {};
}

// The run without the attack. The clients that would talk are present and silent.
LoadRunOptions quiet(LoadRunOptions run) {
  run.flood_per_second = 0.0;
  run.talk_bytes = 0;
  return run;
}

void print_attack(const FloodArguments& arguments, const Json& flooded) {
  const LoadRunOptions& run = arguments.run;
  if (arguments.attack == Attack::talk) {
    fmt::print(
        "{} clients; {} talkers send messages of {} bytes for {} s: the server took {} and sent {}\n\n",
        run.world.clients, run.talkers, run.talk_bytes, run.seconds, flooded["messages_received"].dump(),
        flooded["messages_sent"].dump());
    return;
  }
  const Json& flood = flooded["flood"];
  fmt::print(
      "{} clients; {:.0f} datagrams a second from {} addresses for {} s: {} bytes sent, {} bytes received in "
      "answer\n\n",
      run.world.clients, run.flood_per_second, flood["addresses"].dump(), run.seconds, flood["bytes"].dump(),
      flood["answered_bytes"].dump());
}

int run_flood_command(FloodArguments arguments) {
  if (arguments.attack == Attack::talk) {
    arguments.run.flood_per_second = 0.0;
  } else {
    arguments.run.talkers = arguments.run.talk_bytes = 0;
  }
  program::catch_stop_signals();
  program::ignore_broken_pipes();
  Json all = {{"clients", arguments.run.world.clients}, {"per_second", arguments.run.flood_per_second},
              {"talkers", arguments.run.talkers},       {"talk_bytes", arguments.run.talk_bytes},
              {"seconds", arguments.run.seconds},       {"pairs", Json::array()}};
  for (std::size_t pair = 0; pair < arguments.pairs; ++pair) {
    Json both;
    for (const bool flooded : {false, true}) {
      const ScratchFolder scratch;
      const LoadRunOptions run = flooded ? arguments.run : quiet(arguments.run);
      const auto result = run_load(run, scratch.path() / "sent.txt", [](const std::string&, double) {});
      if (!result) return report_error(result.error(), program::kFailed);
      both[flooded ? "flooded" : "quiet"] = figures_of(*result);
    }
    all["pairs"].push_back(both);
    if (const std::string wrong = failure_of(arguments, both["flooded"]); !wrong.empty())
      return report_error(wrong + ": " + both.dump(), program::kFailed);
  }
  print_attack(arguments, all["pairs"].back()["flooded"]);
  for (const Figure& figure : kFigures) {
    std::vector<double> quiet, flooded, ratios;
    for (const Json& pair : all["pairs"]) {
      quiet.push_back(pair["quiet"].value(figure.name, 0.0));
      flooded.push_back(pair["flooded"].value(figure.name, 0.0));
      ratios.push_back(quiet.back() > 0.0 ? flooded.back() / quiet.back() : 0.0);
    }
    all["ratios"][figure.name] = upper_median(ratios);
    fmt::print("  {:<40}{:>10.4f}{:>10.4f}{:>8.2f}\n", figure.text, upper_median(quiet),
               upper_median(flooded), upper_median(ratios));
  }
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, all))
      return report_error(wrong->message, program::kFailed);
  }
  return program::kOk;
}

}  // namespace

void add_flood_command(CLI::App& app, int& exit_code, const char* argv0) {
  CLI::App* command =
      app.add_subcommand("flood", "measure how an attack on a server of this machine affects its clients");
  auto arguments = std::make_shared<FloodArguments>();
  LoadRunOptions& run = arguments->run;
  run.program = program_folder(argv0) / "reckoner-harness";
  run.flood_per_second = 5000.0;
  run.talkers = 1;
  run.talk_bytes = 200;
  run.late = 8;
  run.seconds = 30.0;
  run.world.entities = 400;
  const std::map<std::string, Attack> attacks{{"strangers", Attack::strangers}, {"talk", Attack::talk}};
  command
      ->add_option("--attack", arguments->attack,
                   "strangers (datagrams from thousands of addresses) or talk (clients send as many reliable "
                   "messages as they can, and the server passes them on to all others)")
      ->transform(CLI::CheckedTransformer(attacks).description(""))
      ->type_name("TEXT")
      ->default_str("strangers");
  command->add_option("--talkers", run.talkers, "number of clients that talk")->check(CLI::Range(1, 100));
  command->add_option("--talk-bytes", run.talk_bytes, "size of their messages")
      ->check(CLI::Range(std::size_t{1}, kMaxReliableBytes));
  command->add_option("--clients", run.world.clients, "number of honest clients")->check(CLI::Range(1, 1000));
  command->add_option("--entities", run.world.entities, "number of moving entities")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--per-second", run.flood_per_second, "datagrams of the flood per second")
      ->check(CLI::Range(1.0, 50'000.0));
  command->add_option("--seconds", run.seconds, "measured time of each run, s")
      ->check(CLI::Range(1.0, 120.0));
  command->add_option("--warmup-s", run.warmup_s, "pause after the last client has joined, s")
      ->check(CLI::Range(0.0, 60.0));
  command->add_option("--late", run.late, "number of honest clients that join during the flood")
      ->check(CLI::Range(0, 100));
  command->add_option("--pairs", arguments->pairs, "number of pairs of runs, without and with the flood")
      ->check(CLI::Range(1, 20));
  command->add_flag_callback(
      "--ipv6", [arguments] { arguments->run.listen = arguments->run.connect = "::1"; },
      "over IPv6; every socket of strangers has an address in another /64 of fd00:5eed::/32, which must be "
      "local (see below)");
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "The flood of strangers has equal parts of ENet connection requests, first messages of handshakes, and "
      "noise. It "
      "comes from\nthousands of addresses in 127.0.0.0/8 (Linux). The table has the medians without and with "
      "the flood, and the median\nof the ratios. Fails if an honest client is kept out or lost, or if the "
      "flood receives more bytes than it sends.\n"
      "Example:\n"
      "  reckoner-harness flood --clients 100 --per-second 5000 --seconds 30 --pairs 3\n"
      "  reckoner-harness flood --attack talk --clients 20 --talkers 2\n"
      "Over IPv6, in a network of its own (as root):\n"
      "  unshare --net sh -c 'ip link set lo up && ip -6 route add local fd00:5eed::/32 dev lo &&\n"
      "  reckoner-harness flood --ipv6'");
  command->callback([arguments, &exit_code] { exit_code = run_flood_command(*arguments); });
  CLI::App* role = app.add_subcommand("load-flood", "flood of the command flood")->group("");
  auto options = std::make_shared<LoadFloodOptions>();
  role->add_option("--connect", options->server);
  role->add_option("--per-second", options->per_second);
  role->add_option("--seconds", options->seconds);
  role->callback([options, &exit_code] { exit_code = run_load_flood(*options); });
}

}  // namespace reckoner::harness
