// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "harness/report/progress_bar.hpp"
#include "harness/stress/load/load_figures.hpp"
#include "harness/stress/load/load_run.hpp"
#include "harness/stress/load/roles/load_roles.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/setting_options.hpp"
#include "programs/common/system/standard_streams.hpp"
#include "server/src/server_settings.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::harness {
namespace {

// ENet has room for 4095 connections. A server over ENet is compared, and may be measured.
constexpr std::size_t kMaxClients = 4095 - kSpareConnections;

struct LoadArguments {
  LoadRunOptions run;
  std::string json;
};

int run_load_command(const LoadArguments& arguments) {
  if (arguments.run.transport == "enet" && !arguments.run.insecure)
    return report_error("--transport enet has no encryption: give --insecure, too");
  program::catch_stop_signals();
  program::ignore_broken_pipes();  // writing to an ended process must fail with an error
  const ScratchFolder scratch;
  if (scratch.path().empty()) return report_error("cannot make a temporary folder", program::kFailed);
  const auto record = scratch.path() / "sent.txt";
  const auto reckoner = run_load(arguments.run, record, show_progress);
  const auto plain = reckoner ? run_plain(arguments.run, record, show_progress) : reckoner;
  end_progress();
  if (!plain) return report_error(plain.error(), program::kFailed);
  const auto figures = load_json(arguments.run, *reckoner, *plain);
  fmt::print("{}", load_table(figures));
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, figures))
      return report_error(wrong->message, program::kFailed);
  }
  return program::kOk;
}

void add_world_options(CLI::App& command, LoadWorldOptions& world) {
  command.add_option("--clients", world.clients, "number of clients, each with its own socket")
      ->check(CLI::Range(std::size_t{1}, kMaxClients));
  command.add_option("--entities", world.entities, "number of moving entities")
      ->check(CLI::Range(std::size_t{1}, std::size_t{60'000}));
  command.add_option("--resting", world.resting, "number of additional entities at rest")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}));
  command.add_option("--see", world.see,
                     "approximate number of moving entities that each client sees; 0: all");
  command.add_option("--seed", world.seed, "seed of the motion");
}

void add_server_role(CLI::App& app, int& exit_code, const char* name, int (*run)(const LoadServerOptions&)) {
  CLI::App* command = app.add_subcommand(name, "a server of load")->group("");
  auto options = std::make_shared<LoadServerOptions>();
  add_world_options(*command, options->world);
  command->add_option("--tick-rate", options->tick_rate_hz);
  command->add_option("--send-rate", options->send_rate_hz);
  command->add_option("--threads", options->threads);
  command->add_option("--record", options->record);
  command->add_option("--late", options->late);
  command->add_option("--key", options->key);
  command->add_option("--transport", options->transport);
  command->add_option("--listen", options->listen);
  command->callback([options, run, &exit_code] { exit_code = run(*options); });
}

void add_clients_role(CLI::App& app, int& exit_code, const char* name,
                      int (*run)(const LoadClientsOptions&)) {
  CLI::App* command = app.add_subcommand(name, "clients of load")->group("");
  auto options = std::make_shared<LoadClientsOptions>();
  add_world_options(*command, options->world);
  command->add_option("--tick-rate", options->tick_rate_hz);
  command->add_option("--frame-rate", options->frame_rate_hz);
  command->add_option("--connect", options->server);
  command->add_option("--key", options->key);
  command->add_option("--transport", options->transport);
  command->add_option("--count", options->count);
  command->add_option("--first-id", options->first_id);
  command->add_option("--join-rate", options->join_rate_hz);
  command->add_flag("--dial-again", options->dials_again);
  command->add_option("--watched", options->measured);
  command->add_option("--epoch", options->epoch_s);
  command->add_option("--loss", options->loss_percent);
  command->add_option("--talk-bytes", options->talk_bytes);
  command->add_option("--payload", options->payload_bytes);
  command->callback([options, run, &exit_code] { exit_code = run(*options); });
}

}  // namespace

void add_load_command(CLI::App& app, int& exit_code, const char* argv0) {
  CLI::App* command = app.add_subcommand(
      "load", "measure the cost of a server with many clients on this machine, compared with plain ENet");
  auto arguments = std::make_shared<LoadArguments>();
  arguments->run.program = program_folder(argv0) / "reckoner-harness";
  LoadRunOptions& run = arguments->run;
  add_world_options(*command, run.world);
  command->add_option("--seconds", run.seconds, "measured time of each of the two servers, s")
      ->check(CLI::Range(0.5, 3600.0));
  command->add_option("--warmup-s", run.warmup_s, "after the last client has joined, s")
      ->check(CLI::Range(0.0, 600.0));
  command->add_option("--tick-rate", run.tick_rate_hz, "ticks per second")
      ->check(program::range_in(kServerSettings, "tick_rate_hz", "--tick-rate"));
  command
      ->add_option("--send-rate", run.send_rate_hz,
                   "datagrams with motions per second to each client; 0: one in every tick")
      ->check(program::range_in(kServerSettings, "send_rate_hz", "--send-rate"));
  command->add_option("--threads", run.threads, "threads of the server")
      ->check(CLI::PositiveNumber)
      ->check(program::range_in(kServerSettings, "threads", "--threads"));
  command->add_option("--join-rate", run.join_rate_hz, "clients that join per second")
      ->check(CLI::Range(1.0, 10'000.0));
  command
      ->add_option("--processes", run.processes, "number of processes for the clients; 0: one for every 250")
      ->check(CLI::Range(0, 64));
  command
      ->add_option("--client-loss", run.client_loss_percent,
                   "share of the datagrams with motions that each client loses, percent")
      ->check(CLI::Range(0.0, 90.0));
  command
      ->add_option("--client-rate", run.client_rate_hz,
                   "how often a client receives and acknowledges, per second; 0: once a tick")
      ->check(CLI::Range(0.5, 1000.0) | CLI::IsMember({0.0}));
  command->add_flag("--insecure", run.insecure, "no tokens and no encryption");
  command->add_option("--transport", run.transport, "udp, or enet with --insecure")
      ->check(CLI::IsMember({"udp", "enet"}))
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--over",
          [arguments](const std::string& over) {
            arguments->run.listen = over == "both" ? "" : over == "ipv6" ? "::1" : "127.0.0.1";
            arguments->run.connect = over == "ipv6" ? "::1" : "127.0.0.1";
          },
          "ipv4 (default), ipv6, or both: a server for both families whose clients use IPv4; plain ENet "
          "always "
          "uses IPv4")
      ->check(CLI::IsMember({"ipv4", "ipv6", "both"}));
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "Processor time is that of the server process during the measurement, without the simulation of the "
      "entities.\nPlain ENet only sends datagrams of equal sizes at equal times to an equal number of "
      "clients, which acknowledge\nequally often.\n"
      "Example:\n"
      "  reckoner-harness load --clients 1000 --entities 1000 --seconds 60 --insecure --json load.json");
  command->callback([arguments, &exit_code] { exit_code = run_load_command(*arguments); });
  add_server_role(app, exit_code, "load-server", &run_load_server);
  add_server_role(app, exit_code, "load-plain-server", &run_plain_server);
  add_clients_role(app, exit_code, "load-clients", &run_load_clients);
  add_clients_role(app, exit_code, "load-plain-clients", &run_plain_clients);
}

}  // namespace reckoner::harness
