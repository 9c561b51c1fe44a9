// SPDX-License-Identifier: MIT
#include "harness/cluster/cluster_run.hpp"
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/process/child_process.hpp"
#include "harness/report/progress_bar.hpp"
#include "harness/report/report_error.hpp"
#include "programs/common/loop/stop_signal.hpp"

#include <csignal>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct ClusterArguments {
  ClusterRunOptions run;
  std::string json;
};

int run_cluster_command(const ClusterArguments& arguments) {
  program::catch_stop_signals();
  (void)std::signal(SIGPIPE, SIG_IGN);  // writing to an ended process must fail with an error
  const auto figures = run_cluster(arguments.run, show_progress);
  end_progress();
  if (!figures) return report_error(figures.error(), program::kFailed);
  fmt::print("{}", cluster_table(*figures));
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, *figures))
      return report_error(wrong->message, program::kFailed);
  }
  return program::kOk;
}

void add_world_options(CLI::App& command, ClusterWorldOptions& world) {
  command.add_option("--entities", world.entities, "number of moving entities")
      ->check(CLI::Range(std::size_t{1}, std::size_t{200'000}));
  command.add_option("--columns", world.columns, "cells along each axis")
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}));
  command.add_option("--cell-m", world.cell_m, "side of a cell, m")->check(CLI::Range(1.0, 1e6));
  command
      .add_option("--radius-m", world.radius_m, "interest radius of the clients, m; 0: they see everything")
      ->check(CLI::Range(0.0, 1e6));
  command.add_option("--tick-rate", world.tick_rate_hz, "ticks per second")->check(CLI::Range(1.0, 1000.0));
  command.add_option("--checkpoint-s", world.checkpoint_s, "a changed entity is stored this often, s")
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("--seed", world.seed, "seed of the motion and of the chaos");
}

template <class Options, class Add>
void add_role(CLI::App& app, int& exit_code, const char* name, int (*run)(const Options&), const Add& add) {
  CLI::App* command = app.add_subcommand(name, "a process of cluster")->group("");
  auto options = std::make_shared<Options>();
  add_world_options(*command, options->world);
  command->add_option("--nats", options->world.nats);
  add(*command, *options);
  command->callback([options, run, &exit_code] { exit_code = run(*options); });
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code, const char* argv0) {
  CLI::App* command = app.add_subcommand(
      "cluster", "measure a world on several servers over NATS, compared with the same world on one server");
  auto arguments = std::make_shared<ClusterArguments>();
  ClusterRunOptions& run = arguments->run;
  run.program = program_folder(argv0) / "reckoner-harness";
  add_world_options(*command, run.world);
  command->add_option("--simulators", run.simulators, "number of simulators")
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}));
  command->add_option("--gateways", run.gateways, "number of gateways")
      ->check(CLI::Range(std::size_t{1}, std::size_t{16}));
  command->add_option("--clients", run.clients, "number of clients, spread over the gateways")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  command->add_option("--watched", run.watched, "number of clients whose error is measured");
  command->add_option("--seconds", run.seconds, "length of the measurement, s")
      ->check(CLI::Range(1.0, 3600.0));
  command->add_option("--warm-up", run.warm_up_s, "time before the measurement, s; large worlds need more")
      ->check(CLI::Range(0.0, 600.0));
  command->add_option("--network", run.network, "network between clients and gateways");
  command->add_option(
      "--view-m", run.fixed_view_m,
      "all clients look at this point of the diagonal, m; below 0: each one follows an entity");
  command->add_flag(
      "--chaos", run.chaos,
      "kill simulators, gateways and the NATS server, and pause simulators for 10 s; three of each");
  command->add_flag("!--no-compare", run.compare, "do not measure one server");
  command->add_option("--json", arguments->json, "write all figures to this file");
  command->footer(
      "Starts nats-server, which must be installed, and all processes on this machine.\n"
      "Example:\n"
      "  reckoner-harness cluster --simulators 4 --gateways 2 --clients 100 --entities 2000 --network "
      "intercity "
      "--seconds 60");
  command->callback([arguments, &exit_code] { exit_code = run_cluster_command(*arguments); });
  add_role(app, exit_code, "cluster-simulator", &run_cluster_simulator,
           [](CLI::App& role, ClusterSimulatorOptions& options) {
             role.add_option("--name", options.name);
             role.add_flag("--spawn", options.spawns);
           });
  add_role(app, exit_code, "cluster-gateway", &run_cluster_gateway,
           [](CLI::App& role, ClusterGatewayOptions& options) {
             role.add_option("--name", options.name);
             role.add_option("--port", options.port);
             role.add_option("--key", options.key);
             role.add_flag("--single", options.single);
             role.add_option("--clients", options.clients);
             role.add_option("--view-m", options.fixed_view_m);
           });
  add_role(app, exit_code, "cluster-clients", &run_cluster_clients,
           [](CLI::App& role, ClusterClientsOptions& options) {
             role.add_option("--servers", options.servers);
             role.add_option("--key", options.key);
             role.add_option("--count", options.count);
             role.add_option("--watched", options.watched);
           });
}

}  // namespace reckoner::harness
