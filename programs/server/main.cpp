// SPDX-License-Identifier: MIT
//
// reckoner-server: plays recorded or built-in motion to clients over UDP.
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/pace.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/config_file.hpp"
#include "programs/common/system/standard_streams.hpp"
#include "programs/server/metrics.hpp"
#include "programs/server/options.hpp"
#include "programs/server/play.hpp"
#include "programs/server/report.hpp"
#include "programs/server/watch/watch.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <reckoner/net/network_transport.hpp>

namespace {

using namespace reckoner;
using namespace reckoner::program;

constexpr const char* kName = "reckoner-server";

// Maximum number of log lines per second that unknown peers can cause.
constexpr unsigned kStrangerLinesPerSecond = 10;

// Writes the log records of the libraries into the program's log.
struct Sinks {
  explicit Sinks(Log& log) : server(log, kStrangerLinesPerSecond), network(log, kStrangerLinesPerSecond) {}
  LimitedSink server;
  LimitedSink network;
};

void take_events(Server& server, ServerMetrics& metrics, Sinks& sinks) {
  sinks.server.write_suppressed();
  sinks.network.write_suppressed();
  while (const auto event = server.poll_event())
    metrics.note(*event);
}

// Plays the source until it ends or a stop is requested.
RunTimes play_all(Server& server, NetworkTransport& transport, Watch& watch, Play& play,
                  ServerMetrics& metrics, Sinks& sinks, double epoch_s, double end_s,
                  scenario::PoseCsvWriter* truth) {
  RunTimes times;
  const double started_s = monotonic_s();
  const auto server_now_s = [&] { return epoch_s + monotonic_s() - started_s; };
  while (!stop_requested()) {
    const double tick_s = server.tick_time_s(server.next_tick());
    if (tick_s > end_s) break;
    const double due_s = started_s + (tick_s - epoch_s);
    receive_until(due_s, transport, server.client_count(), [&] { server.receive(server_now_s()); });
    const double began_s = monotonic_s();
    times.worst_late_s = std::max(times.worst_late_s, began_s - due_s);
    play.step(due_s, truth);
    server.tick(server_now_s());
    take_events(server, metrics, sinks);
    const double now_s = monotonic_s();
    watch.note_tick(server, now_s);
    metrics.note_tick(server, watch.transport().stats(), play, now_s, began_s - due_s, now_s - began_s);
  }
  times.seconds = monotonic_s() - started_s;
  return times;
}

// Disconnects all clients. Waits until all clients have acknowledged it, but not longer than three round
// trips of a bad link.
void disconnect_clients(Server& server, NetworkTransport& transport, Transport& all, Log& log) {
  constexpr double kLongestS = 2.0;
  std::size_t left = server.client_count();
  server.shutdown();
  log.info(stop_requested() ? "stopping on request" : "stopping at the end",
           {{"clients", static_cast<std::uint64_t>(left)}});
  const double until_s = monotonic_s() + kLongestS;
  while (left > 0 && monotonic_s() < until_s) {
    transport.wait(0.01);
    all.service(monotonic_s());
    while (const auto event = all.poll()) {
      if (event->kind == TransportEvent::Kind::disconnected && left > 0) --left;
    }
  }
  if (left > 0)
    log.warn("clients did not confirm the shutdown", {{"clients", static_cast<std::uint64_t>(left)}});
}

Result<std::unique_ptr<StatusPage>> open_page(const ServerOptions& options, const ServerMetrics& metrics) {
  if (!options.metrics_port) return std::unique_ptr<StatusPage>{};
  return StatusPage::open(
      options.metrics_host, *options.metrics_port,
      {[&metrics] { return metrics.metrics(); }, [&metrics] { return metrics.health(monotonic_s()); }});
}

// Logs the addresses that tokens must name, for operators whose clients are refused.
void say_tokens(Log& log, const std::string& host, std::uint16_t port,
                const OrInsecure<ServerSecurity>& security) {
  const ServerSecurity* const secure = security.get();
  // The transport has already warned that any server address is accepted.
  if (secure == nullptr || secure->any_server) return;
  const std::string named =
      secure->addresses.empty() ? host + ':' + std::to_string(port) : text_of(secure->addresses, port);
  log.info("tokens must name", {{"address", std::string_view(named)}});
}

int run(const ServerOptions& options) {
  Log log{kName, options.log};
  const auto source = open_source(options.source);
  if (!source) return fail(kName, source.error());

  std::optional<scenario::PoseCsvWriter> truth;
  if (!options.truth_path.empty()) {
    auto opened = scenario::PoseCsvWriter::open(
        options.truth_path, {.shown_time = false, .monotonic = true, .frame = (*source)->has_frames()});
    if (!opened) return fail(kName, opened.error());
    truth = std::move(*opened);
  }
  auto security = open_security(options.security, options.host);
  if (!security) return fail(kName, security.error());
  Sinks sinks{log};
  auto transport = NetworkTransport::listen({.host = options.host,
                                             .port = options.port,
                                             .max_peers = options.server.max_clients + kSpareConnections,
                                             .security = *security,
                                             .limits = options.limits,
                                             .log = sinks.network.sink()});
  if (!transport) return fail(kName, transport.error(), kFailed);

  const double epoch_s = (*source)->start_s();
  ServerConfig config = server_config(options, epoch_s);
  config.log = sinks.server.sink();
  auto watch = Watch::open(options, **transport, (*transport)->port(), *security);
  if (!watch) return fail(kName, watch.error(), kFailed);
  Transport& all = (*watch)->transport();
  auto created = Server::create(std::move(config), all);
  if (!created) return fail(kName, created.error());
  Server& server = *created;
  Play play{**source, server, options.server.tick_rate_hz, log};
  ServerMetrics metrics{options.server.tick_rate_hz, monotonic_s(), options.metrics_clients};
  const auto page = open_page(options, metrics);
  if (!page) return fail(kName, page.error(), kFailed);

  fmt::print("listening on port {}\n", (*transport)->port());
  if (*page) fmt::print("metrics on http://{}:{}/metrics\n", options.metrics_host, (*page)->port());
  if ((*watch)->port() != 0) fmt::print("live view on {}\n", (*watch)->address());
  std::fflush(stdout);
  log.info("listening", {{"port", static_cast<std::uint64_t>((*transport)->port())},
                         {"secure", security->get() != nullptr}});
  say_tokens(log, options.host, (*transport)->port(), *security);

  const double end_s = options.source.seconds > 0.0
                           ? std::min((*source)->end_s(), epoch_s + options.source.seconds)
                           : (*source)->end_s();
  const RunTimes times =
      play_all(server, **transport, **watch, play, metrics, sinks, epoch_s, end_s, truth ? &*truth : nullptr);
  metrics.note_stopping();
  disconnect_clients(server, **transport, all, log);
  print_summary(server.stats(), all.stats(), times);
  if (play.refused() > 0)
    log.warn("poses were refused: outside the world, or too fast", {{"poses", play.refused()}});
  if (truth && !truth->close()) return fail(kName, "could not write all of " + options.truth_path, kFailed);
  if (!options.json_path.empty()) {
    if (const auto error = write_counts(options.json_path, server.stats(), all.stats(), times))
      return fail(kName, error->message, kFailed);
  }
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  use_utf8();
  ServerOptions options;
  CLI::App app{"Plays recorded or built-in motion to Reckoner clients.", kName};
  add_server_options(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  if (!options.config_path.empty()) {
    if (const auto error = apply_config_file(options.config_path, app)) return fail(kName, error->message);
  }
  catch_stop_signals();
  return run_in_memory(kName, [&] { return run(options); });
}
