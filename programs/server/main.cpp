// SPDX-License-Identifier: MIT
//
// reckoner-server: plays recorded or built-in motion to clients over UDP.
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/pace.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/config_file.hpp"
#include "programs/common/system/standard_streams.hpp"
#include "programs/server/decisions.hpp"
#include "programs/server/metrics.hpp"
#include "programs/server/options.hpp"
#include "programs/server/play.hpp"
#include "programs/server/report.hpp"
#include "programs/server/serving.hpp"
#if defined(RECKONER_CLUSTER)
#include "programs/server/cluster_server.hpp"
#endif
#include "programs/server/watch/watch.hpp"
#include "scenario/trace/pose_csv.hpp"
#include "server/src/test_switches.hpp"

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
    metrics.note_tick(server, watch.transport().stats(), {play.ids(), play.refused()}, now_s, began_s - due_s,
                      now_s - began_s);
  }
  times.seconds = monotonic_s() - started_s;
  return times;
}

int run(const ServerOptions& options) {
  Log log{kServerName, options.log};
  const auto source = open_source(options.source);
  if (!source) return fail(kServerName, source.error());

  std::optional<scenario::PoseCsvWriter> truth;
  if (!options.truth_path.empty()) {
    auto opened = scenario::PoseCsvWriter::open(
        options.truth_path, {.shown_time = false, .monotonic = true, .frame = (*source)->has_frames()});
    if (!opened) return fail(kServerName, opened.error());
    truth = std::move(*opened);
  }
  auto security = open_security(options.security, options.host);
  if (!security) return fail(kServerName, security.error());
  Sinks sinks{log};
  auto transport = open_transport(options, *security, sinks);
  if (!transport) return fail(kServerName, transport.error(), kFailed);

  const double epoch_s = (*source)->start_s();
  ServerConfig config = server_config(options, epoch_s);
  config.log = sinks.server.sink();
  auto watch = Watch::open(options, **transport, *security);
  if (!watch) return fail(kServerName, watch.error(), kFailed);
  Transport& all = (*watch)->transport();
  if (const auto wrong = find_invalid_setting(config)) return fail(kServerName, wrong->message);
  std::unique_ptr<DecisionWriter> decisions;
  if (!options.decisions_path.empty()) {
    auto opened = DecisionWriter::open(options.decisions_path);
    if (!opened) return fail(kServerName, opened.error());
    decisions = std::move(*opened);
  }
  ServerTestSwitches switches;
  switches.observer = decisions.get();
  Server server = make_test_server(std::move(config), all, switches);
  Play play{**source, server, options.server.tick_rate_hz, log};
  ServerMetrics metrics{options.server.tick_rate_hz, monotonic_s(), options.metrics_clients};
  const auto page = open_page(options, metrics);
  if (!page) return fail(kServerName, page.error(), kFailed);

  say_listening(options, transport->get(), page->get(), (*watch)->port() != 0 ? (*watch)->address() : "",
                *security, log);

  const double end_s = options.source.seconds > 0.0
                           ? std::min((*source)->end_s(), epoch_s + options.source.seconds)
                           : (*source)->end_s();
  const RunTimes times =
      play_all(server, **transport, **watch, play, metrics, sinks, epoch_s, end_s, truth ? &*truth : nullptr);
  metrics.note_stopping();
  const double stopped_s = monotonic_s();
  disconnect_clients(
      server, **transport, [&] { server.receive(epoch_s + times.seconds + (monotonic_s() - stopped_s)); },
      log);
  print_summary(server.stats(), all.stats(), times);
  if (play.refused() > 0)
    log.warn("poses were refused: outside the world, or too fast", {{"poses", play.refused()}});
  if (truth && !truth->close())
    return fail(kServerName, "could not write all of " + options.truth_path, kFailed);
  if (decisions && !decisions->close())
    return fail(kServerName, "could not write all of " + options.decisions_path, kFailed);
  if (!options.json_path.empty()) {
    if (const auto error = write_counts(options.json_path, server.stats(), all.stats(), times))
      return fail(kServerName, error->message, kFailed);
  }
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  use_utf8();
  ServerOptions options;
  CLI::App app{"Plays recorded or built-in motion to Reckoner clients.", kServerName};
  add_server_options(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  if (!options.config_path.empty()) {
    if (const auto error = apply_config_file(options.config_path, app))
      return fail(kServerName, error->message);
  }
  if (const auto error = find_wrong_cluster_option(options.cluster)) return fail(kServerName, error->message);
  catch_stop_signals();
  return run_in_memory(kServerName, [&] {
#if defined(RECKONER_CLUSTER)
    if (!options.cluster.world.empty()) return run_cluster_server(options);
#endif
    return run(options);
  });
}
