// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/coverage.hpp"
#include "harness/metrics/measure.hpp"
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/system/standard_streams.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

namespace fs = std::filesystem;

struct DemoArguments {
  program::SourceOptions source;
  std::string network = "intercity";
  std::uint64_t seed = 1;
  std::string argv0;
};

struct DemoClient {
  std::string title;
  std::string what;
  std::string mode;
  fs::path rendered;
  fs::path json;
  std::optional<ChildProcess> process;
};

struct Column {
  std::string title;
  std::string what;
  Figures figures;
  double updates_per_s = 0.0;
  double wire_bytes_per_s = 0.0;
};

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Waits until the program prints the port it listens on. Returns the port.
Result<std::string> port_of(ChildProcess& process, const std::string& name) {
  constexpr std::string_view kSays = "listening on port ";
  for (int i = 0; i < 500 && !program::stop_requested(); ++i) {
    const bool ended = process.exit_code().has_value();
    const std::string output = process.output();
    const std::size_t at = output.find(kSays);
    const std::size_t end = at == std::string::npos ? at : output.find('\n', at);
    if (end != std::string::npos) return output.substr(at + kSays.size(), end - at - kSays.size());
    if (ended) return Error{name + " did not start: " + last_line(output)};
    sleep_ms(10);
  }
  return Error{program::stop_requested() ? "stopped" : name + " did not print its port"};
}

std::vector<std::string> source_options(const program::SourceOptions& source) {
  std::vector<std::string> options;
  if (!source.trace.empty()) {
    options = {"--trace", source.trace, "--entity", source.entity};
    if (source.timeline != scenario::Timeline::automatic)
      options.insert(
          options.end(),
          {"--timeline", source.timeline == scenario::Timeline::together ? "together" : "successive"});
    if (!source.table.columns.empty())
      options.insert(options.end(), {"--trace-columns", source.table.columns});
    if (!source.table.units.empty()) options.insert(options.end(), {"--units", source.table.units});
    if (source.table.project) options.emplace_back("--project");
    if (source.recentre != scenario::Recentre::automatic)
      options.insert(options.end(),
                     {"--recentre", source.recentre == scenario::Recentre::always ? "always" : "never"});
  } else {
    options = {"--scenario", source.scenario};
    if (source.entities > 0) {
      options.insert(options.end(), {"--entities", std::to_string(source.entities)});
    }
  }
  options.insert(options.end(), {"--start", fmt::format("{}", source.start_s), "--seconds",
                                 fmt::format("{}", source.seconds), "--teleport-mps",
                                 fmt::format("{}", source.teleport_mps)});
  return options;
}

// Shows the progress until the server has ended. Returns false if the user stops it or the server does not
// end in time.
bool watch(ChildProcess& server, double seconds) {
  const bool terminal = program::is_terminal(stdout);
  const auto start = std::chrono::steady_clock::now();
  constexpr int kWidth = 40;
  while (!server.exit_code()) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (program::stop_requested() || passed.count() > seconds + 15.0) return false;
    if (terminal) {
      const int done = std::min(kWidth, static_cast<int>(kWidth * passed.count() / seconds));
      fmt::print("\r  [{}{}] {:4.1f} of {:.0f} s", std::string(done, '='), std::string(kWidth - done, ' '),
                 std::min(seconds, passed.count()), seconds);
      std::fflush(stdout);
    }
    sleep_ms(100);
  }
  if (terminal) fmt::print("\r{}\r", std::string(kWidth + 24, ' '));
  return true;
}

Result<Column> column_of(const DemoClient& viewer, const fs::path& truth, const MeasureOptions& options) {
  Column column;
  const auto figures = measure_files(utf8_of(truth), utf8_of(viewer.rendered), options);
  if (!figures) return Error{viewer.title + ": " + figures.error()};
  if (const auto unshown = find_unshown(*figures)) return Error{viewer.title + ": " + unshown->message};
  column.title = viewer.title;
  column.what = viewer.what;
  column.figures = *figures;
  std::ifstream file(viewer.json);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_object()) {
    column.updates_per_s = json.value("updates_per_entity_s", 0.0);
    column.wire_bytes_per_s = json.value("wire_bytes_per_entity_s", 0.0);
  }
  return column;
}

Result<Column> snap_column(const DemoArguments& arguments, double rate_hz) {
  program::SourceOptions options = arguments.source;
  const auto source = program::open_source(options);
  if (!source) return Error{source.error()};
  LinkArguments link;
  link.network = arguments.network;
  RunArguments run;
  run.options.method = "snap";
  run.options.seed = arguments.seed;
  run.options.budget.fixed_rate_hz = rate_hz;
  const auto replayed_options = replay_options(run, options, link);
  if (!replayed_options) return Error{replayed_options.error()};
  const auto replayed = replay(**source, *replayed_options);
  if (!replayed) return Error{replayed.error()};
  if (const auto unshown = find_unshown(*replayed)) return Error{"snap: " + unshown->message};
  Column column;
  column.title = "snap";
  column.what = "no smoothing";
  column.figures = replayed->run;
  const double seconds = std::max(1e-9, replayed->run.entity_seconds);
  column.updates_per_s = static_cast<double>(replayed->run.down->updates) / seconds;
  column.wire_bytes_per_s = static_cast<double>(replayed->run.down->wire_bytes) / seconds;
  return column;
}

template <class Value>
void print_row(const char* name, const std::vector<Column>& columns, Value value) {
  fmt::print("  {:<44}", name);
  for (const Column& column : columns)
    fmt::print("{:>16}", value(column));
  fmt::print("\n");
}

void print_table(const std::vector<Column>& columns) {
  fmt::print("\n");
  print_row("", columns, [](const Column& c) { return c.title; });
  print_row("", columns, [](const Column& c) { return c.what; });
  print_row("same-time error, p95 (m)", columns,
            [](const Column& c) { return fmt::format("{:.3f}", c.figures.now_error_m.p95); });
  print_row("error of the shown path, p95 (m)", columns,
            [](const Column& c) { return fmt::format("{:.3f}", c.figures.shown_error_m.p95); });
  print_row("velocity step, p99 (m/s)", columns,
            [](const Column& c) { return fmt::format("{:.3f}", c.figures.velocity_step_mps.p99); });
  print_row("playout delay, mean (ms)", columns,
            [](const Column& c) { return fmt::format("{:.0f}", c.figures.delay_ms.mean); });
  print_row("clock error, p95 (ms)", columns, [](const Column& c) {
    return c.figures.clock_error_ms ? fmt::format("{:.1f}", c.figures.clock_error_ms->p95) : "perfect";
  });
  print_row("updates per entity and second", columns,
            [](const Column& c) { return fmt::format("{:.1f}", c.updates_per_s); });
  print_row("bytes on the wire per entity and second", columns,
            [](const Column& c) { return fmt::format("{:.0f}", c.wire_bytes_per_s); });
}

// What ENet itself has counted at the server. Returns false if it has carried nothing in one direction.
bool print_transport(const fs::path& server_json) {
  std::ifstream file(server_json);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return false;
  const auto sent = json.value("transport_datagrams_sent", std::uint64_t{0});
  const auto received = json.value("transport_datagrams_received", std::uint64_t{0});
  fmt::print("\n  ENet at the server: {} datagrams sent, {} received\n", sent, received);
  return sent > 0 && received > 0;
}

void print_outcome(const Figures& reckoner, const Figures& snap) {
  fmt::print(
      "\nIn 95 % of the frames, the error at the same instant was at most {:.3f} m for client 1 and {:.3f} m "
      "for snap.\nThe velocity steps were {:.3f} m/s for client 1 and {:.3f} m/s for snap, in 99 % of the "
      "frames.\n",
      reckoner.now_error_m.p95, snap.now_error_m.p95, reckoner.velocity_step_mps.p99,
      snap.velocity_step_mps.p99);
}

void print_next_steps(const std::string& harness) {
  fmt::print(
      "\nNext  {0} replay --scenario crowd --network mobile    any network, in virtual time\n"
      "      {0} plot --scenario hop --network mobile --out hop.svg    draws it\n"
      "      reckoner-server --help, reckoner-client --help    the two programs\n"
      "      README.md, docs/ARCHITECTURE.md, examples/    use the library in a game\n",
      harness);
}

int run_demo(const DemoArguments& arguments) {
  program::catch_stop_signals();
  const auto network = find_network(arguments.network);
  if (!network) return report_error("unknown network " + arguments.network);
  if (const auto source = program::open_source(arguments.source); !source)
    return report_error(source.error());
  const ScratchFolder scratch;
  if (scratch.path().empty()) return report_error("cannot make a temporary folder", program::kFailed);
  const fs::path folder = program_folder(arguments.argv0.c_str());
  const fs::path truth = scratch.path() / "truth.csv";
  const fs::path server_json = scratch.path() / "server.json";
  const auto start = [&](const char* program, const std::vector<std::string>& options,
                         const std::string& log) {
    return ChildProcess::start(folder / program, options, scratch.path() / (log + ".log"));
  };

  std::vector<std::string> server_options = source_options(arguments.source);
  // The demo stays on this machine, so it needs no key.
  server_options.insert(server_options.end(),
                        {"--host", "127.0.0.1", "--port", "0", "--insecure", "--transport", "enet", "--truth",
                         utf8_of(truth), "--json", utf8_of(server_json)});
  auto server = start("reckoner-server", server_options, "server");
  if (!server) return report_error(server.error(), program::kFailed);
  const auto server_port = port_of(*server, "reckoner-server");
  if (!server_port) return report_error(server_port.error(), program::kFailed);
  auto conditioner = start("reckoner-harness",
                           {"conditioner", "--listen", "0", "--to", "127.0.0.1:" + *server_port, "--network",
                            arguments.network, "--seed", std::to_string(arguments.seed)},
                           "conditioner");
  if (!conditioner) return report_error(conditioner.error(), program::kFailed);
  const auto port = port_of(*conditioner, "the conditioner");
  if (!port) return report_error(port.error(), program::kFailed);

  std::vector<DemoClient> viewers(2);
  viewers[0].title = "client 1", viewers[0].what = "shows the present", viewers[0].mode = "present";
  viewers[1].title = "client 2", viewers[1].what = "shows the past", viewers[1].mode = "adaptive";
  for (DemoClient& viewer : viewers) {
    viewer.rendered = scratch.path() / (viewer.mode + ".csv");
    viewer.json = scratch.path() / (viewer.mode + ".json");
    auto process =
        start("reckoner-client",
              {"--connect", "127.0.0.1:" + *port, "--mode", viewer.mode, "--insecure", "--transport", "enet",
               "--rendered", utf8_of(viewer.rendered), "--json", utf8_of(viewer.json)},
              viewer.mode);
    if (!process) return report_error(process.error(), program::kFailed);
    viewer.process = std::move(*process);
  }
  fmt::print(
      "{} for {:.0f} s: one server and two clients, each in its own process on this machine. They use "
      "ENet\nover a simulated network like \"{}\": {:.0f} ms of one-way delay, {:.0f} ms of jitter, {:g} % "
      "of the "
      "datagrams lost.\n",
      name_of(arguments.source), arguments.source.seconds, arguments.network, network->latency_ms,
      network->jitter_ms, network->loss_percent);
  std::fflush(stdout);

  if (!watch(*server, arguments.source.seconds)) {
    return report_error(program::stop_requested() ? "stopped" : "the server did not end", program::kFailed);
  }
  if (server->exit_code() != 0) {
    return report_error("the server failed: " + last_line(server->output()), program::kFailed);
  }
  MeasureOptions measured;
  measured.teleport_mps = arguments.source.teleport_mps;
  measured.one_way_s = 0.001 * (network->latency_ms + network->jitter_ms);
  std::vector<Column> columns;
  for (DemoClient& viewer : viewers) {
    for (int i = 0; i < 300 && !viewer.process->exit_code(); ++i)
      sleep_ms(10);
    viewer.process->request_stop();
    for (int i = 0; i < 100 && !viewer.process->exit_code(); ++i)
      sleep_ms(10);
    const auto column = column_of(viewer, truth, measured);
    if (!column) {
      return report_error(column.error() + " (" + last_line(viewer.process->output()) + ")",
                          program::kFailed);
    }
    columns.push_back(*column);
  }
  const auto snap = snap_column(arguments, std::max(1.0, columns[0].updates_per_s));
  if (!snap) return report_error(snap.error(), program::kFailed);
  columns.push_back(*snap);
  print_table(columns);
  if (!print_transport(server_json)) return report_error("ENet carried nothing", program::kFailed);
  fmt::print(
      "\n  Many games use the technique snap: they draw each update as it arrives and extrapolate with "
      "constant\n  velocity. Here it gets an equal number of updates over an equal network (simulated). A "
      "velocity step is\n  a change of velocity between two pictures that the true motion does not have. "
      "Players see it as a jerk.\n");
  print_outcome(columns[0].figures, columns.back().figures);
  print_next_steps(arguments.argv0);
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code, const char* argv0) {
  CLI::App* command = app.add_subcommand(
      "demo", "run a server, a bad network and two clients on this machine, and print a table");
  auto arguments = std::make_shared<DemoArguments>();
  arguments->argv0 = argv0;
  program::add_source_options(*command, arguments->source);
  command->add_option("--network", arguments->network, "a named network");
  command->add_option("--seed", arguments->seed, "of the network's randomness");
  command->footer(
      "Examples:\n"
      "  reckoner-harness demo\n"
      "  reckoner-harness demo --trace flight.csv --network mobile");
  command->callback([arguments, &exit_code] {
    if (arguments->source.trace.empty() && arguments->source.scenario.empty())
      arguments->source.scenario = "crowd";
    if (arguments->source.seconds <= 0.0) arguments->source.seconds = 10.0;
    exit_code = run_demo(*arguments);
  });
}

}  // namespace reckoner::harness
