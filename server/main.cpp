// SPDX-License-Identifier: MIT
//
// reckoner-server: plays recorded or built-in motion to clients over ENet.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <reckoner/net/sharded_transport.hpp>
#include <reckoner/program/archetypes.hpp>
#include <reckoner/program/clock.hpp>
#include <reckoner/program/options.hpp>
#include <reckoner/program/pace.hpp>
#include <reckoner/program/security.hpp>
#include <reckoner/program/stop_signal.hpp>
#include <reckoner/scenario/feed.hpp>
#include <reckoner/scenario/pose_csv.hpp>
#include <reckoner/server/server.hpp>

namespace {

using namespace reckoner;
using program::fail;

constexpr const char* kName = "reckoner-server";

struct Options {
  program::SourceOptions source;
  std::string host;
  std::uint16_t port = 26'000;
  double tick_rate_hz = 60.0;
  double threshold_m = 0.05;
  double threshold_rad = 0.05;
  double updates_per_second = 0.0;
  double fixed_rate_hz = 0.0;
  std::uint32_t max_clients = 64;
  unsigned threads = 0;
  std::string truth_path;
  std::string json_path;
  program::ServerSecurityOptions security;
  bool quiet = false;
};

void add_options(CLI::App& app, Options& o) {
  program::add_source_options(app, o.source);
  app.add_option("--seed", o.source.seed, "of a scenario")->capture_default_str();
  app.add_option("--host", o.host, "address to listen on (default: all of this machine's)");
  app.add_option("--port", o.port, "UDP port to listen on; 0: any free one, which is printed")
      ->capture_default_str();
  app.add_option("--tick-rate", o.tick_rate_hz, "ticks per second")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  app.add_option("--threshold-m", o.threshold_m, "largest distance that clients may be off unnoticed, m")
      ->check(CLI::Range(1e-4, 1e3))
      ->capture_default_str();
  app.add_option("--threshold-rad", o.threshold_rad, "largest angle that clients may be off unnoticed, rad")
      ->check(CLI::Range(1e-4, 3.2))
      ->capture_default_str();
  auto* budget = app.add_option("--updates-per-second", o.updates_per_second,
                                "budget per entity; the thresholds follow it")
                     ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--fixed-rate", o.fixed_rate_hz, "publish every entity evenly at this rate, Hz")
      ->check(CLI::Range(0.1, 1000.0))
      ->excludes(budget);
  app.add_option("--max-clients", o.max_clients, "more are turned away")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "that publish and encode; 0: one for each core")
      ->check(CLI::Range(0u, 256u))
      ->capture_default_str();
  app.add_option("--truth", o.truth_path, "write every tick's true poses to this CSV file");
  app.add_option("--json", o.json_path, "write the final counts to this JSON file");
  program::add_security_options(app, o.security);
  app.add_flag("--quiet", o.quiet, "log warnings only");
  app.footer(
      "Examples:\n"
      "  reckoner-server --scenario crowd --port 26000 --insecure\n"
      "  reckoner-server --trace flight.csv --threshold-m 0.01 --truth truth.csv --key game.key\n"
      "Stops at the end of the trace, after --seconds, or on Ctrl-C. Exit codes: 0 done, 1 failed, 2 bad "
      "input.");
}

// Plays the source into the server, tick by tick.
class Play {
 public:
  Play(const scenario::Source& source, Server& server, double tick_rate_hz)
      : source_(source), server_(server), feed_(source, source.start_s(), tick_rate_hz), ids_(source.size()) {
    for (const RouteDefinition& route : source.routes()) {
      const Result<RouteId> id = server.add_route(route);
      if (!id) spdlog::warn("a route was refused: {}", id.error());
      routes_.push_back(id ? *id : RouteId{});
    }
  }

  // Tells the server of the coming tick; appends the poses of all that is there to `truth`, if given.
  void step(double scheduled_monotonic_s, scenario::PoseCsvWriter* truth) {
    const double time_s = feed_.next_time_s();
    for (const scenario::FeedItem& item : feed_.next()) {
      EntityId& id = ids_[item.entity];
      const scenario::SourceEntity& entity = source_.entity(item.entity);
      switch (item.kind) {
        case scenario::FeedItem::Kind::spawn: {
          const auto kind = entity.has_orientation ? program::Kind::body : program::Kind::point;
          id = server_.spawn(static_cast<std::size_t>(kind), entity.name, item.local, frame_of(item));
          if (!id) spdlog::warn("'{}' was refused: too many entities, or out of the world", entity.name);
          if (const auto route = source_.route_of(item.entity)) server_.follow(id, routes_[*route]);
          break;
        }
        case scenario::FeedItem::Kind::move:
          enter_frame(id, item);
          refused_ += server_.move(id, item.local) ? 0 : 1;
          break;
        case scenario::FeedItem::Kind::teleport:
          enter_frame(id, item);
          refused_ += server_.teleport(id, item.local) ? 0 : 1;
          break;
        case scenario::FeedItem::Kind::despawn:
          server_.despawn(id);
          continue;
      }
      if (truth != nullptr) {
        truth->write({time_s, entity.name, item.truth.pose(), std::nullopt, scheduled_monotonic_s,
                      item.frame ? source_.entity(*item.frame).name : ""});
      }
    }
  }

  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  [[nodiscard]] EntityId frame_of(const scenario::FeedItem& item) const {
    return item.frame ? ids_[*item.frame] : EntityId{};
  }
  void enter_frame(EntityId id, const scenario::FeedItem& item) {
    if (id) refused_ += server_.enter_frame(id, frame_of(item)) == FrameResult::done ? 0 : 1;
  }

  const scenario::Source& source_;
  Server& server_;
  scenario::Feed feed_;
  std::vector<EntityId> ids_;
  std::vector<RouteId> routes_;
  std::uint64_t refused_ = 0;
};

void log_events(Server& server) {
  while (const auto event = server.poll_event()) {
    switch (event->kind) {
      case ServerEvent::Kind::client_joined:
        spdlog::info("client {} joined", event->client.value);
        break;
      case ServerEvent::Kind::client_left:
        spdlog::info("client {} left", event->client.value);
        break;
      case ServerEvent::Kind::client_refused:
        spdlog::warn("a client was refused: {}", event->text);
        break;
      case ServerEvent::Kind::owner_corrected:
      case ServerEvent::Kind::owner_refused:
        spdlog::warn("client {} sent what its entity cannot have done", event->client.value);
        break;
    }
  }
}

bool write_json(const std::string& path, const Server& server, const TransportStats& wire,
                double worst_late_s) {
  const ServerStats& s = server.stats();
  const nlohmann::json json = {{"ticks", s.ticks},
                               {"publishes", s.publishes},
                               {"updates_sent", s.updates_sent},
                               {"repairs_sent", s.repairs_sent},
                               {"datagrams_sent", s.datagrams_sent},
                               {"datagrams_lost", s.datagrams_lost},
                               {"state_bytes_sent", s.state_bytes_sent},
                               {"update_bits_sent", s.update_bits_sent},
                               {"route_updates_sent", s.route_updates_sent},
                               {"route_bits_sent", s.route_bits_sent},
                               {"route_entity_ticks", s.route_entity_ticks},
                               {"wire_bytes_sent", wire.wire_bytes_sent},
                               {"malformed", s.malformed},
                               {"transport_refused", wire.refused},
                               {"service_errors", wire.service_errors},
                               {"worst_tick_lateness_ms", worst_late_s * 1000.0}};
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const std::string text = json.dump(2) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

void summarise(const Server& server, const TransportStats& wire, double seconds, double worst_late_s) {
  const ServerStats& s = server.stats();
  fmt::print(
      "{} ticks in {:.1f} s (latest {:.1f} ms late), {} motions published, {} updates sent ({} repairs)\n"
      "{} datagrams, {} lost; {} state bytes, {} bytes on the wire; {} malformed payloads refused\n",
      s.ticks, seconds, worst_late_s * 1000.0, s.publishes, s.updates_sent, s.repairs_sent, s.datagrams_sent,
      s.datagrams_lost, s.state_bytes_sent, wire.wire_bytes_sent, s.malformed + wire.refused);
}

int run(const Options& options) {
  const auto source = program::open_source(options.source);
  if (!source) return fail(kName, source.error());

  std::optional<scenario::PoseCsvWriter> truth;
  if (!options.truth_path.empty()) {
    auto opened = scenario::PoseCsvWriter::open(
        options.truth_path, {.shown_time = false, .monotonic = true, .frame = (*source)->has_frames()});
    if (!opened) return fail(kName, opened.error());
    truth = std::move(*opened);
  }
  auto security = program::open_security(options.security);
  if (!security) return fail(kName, security.error());
  auto transport =
      ShardedTransport::listen({options.host, options.port, options.max_clients + 8, std::move(*security)});
  if (!transport) return fail(kName, transport.error(), program::kFailed);

  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.epoch_s = (*source)->start_s();
  config.archetypes = program::archetypes(options.threshold_m, options.threshold_rad);
  config.max_clients = options.max_clients;
  config.threads = options.threads;
  config.updates_per_second = options.updates_per_second;
  config.fixed_rate_hz = options.fixed_rate_hz;
  Server server{config, **transport};
  Play play{**source, server, options.tick_rate_hz};

  fmt::print("listening on port {}\n", (*transport)->port());
  std::fflush(stdout);
  if (options.security.insecure) spdlog::warn("insecure: anyone can join, and nothing is encrypted");

  const double end_s = options.source.seconds > 0.0
                           ? std::min((*source)->end_s(), config.epoch_s + options.source.seconds)
                           : (*source)->end_s();
  const double started_s = program::monotonic_s();
  double worst_late_s = 0.0;
  while (!program::stop_requested()) {
    const double tick_s = server.tick_time_s(server.next_tick());
    if (tick_s > end_s) break;
    const double due_s = started_s + (tick_s - config.epoch_s);
    const auto server_now_s = [&] { return config.epoch_s + program::monotonic_s() - started_s; };
    program::receive_until(due_s, **transport, server.client_count(),
                           [&] { server.receive(server_now_s()); });
    worst_late_s = std::max(worst_late_s, program::monotonic_s() - due_s);
    play.step(due_s, truth ? &*truth : nullptr);
    server.tick(server_now_s());
    log_events(server);
  }

  server.shutdown();
  for (int i = 0; i < 20; ++i) {  // gives the goodbyes time to arrive
    (*transport)->wait(0.01);
    (*transport)->service(program::monotonic_s());
    while ((*transport)->poll()) {
    }
  }
  summarise(server, (*transport)->stats(), program::monotonic_s() - started_s, worst_late_s);
  if (play.refused() > 0)
    spdlog::warn("{} poses were refused: out of the world, or too fast", play.refused());
  if (truth && !truth->close())
    return fail(kName, "could not write all of " + options.truth_path, program::kFailed);
  if (!options.json_path.empty() &&
      !write_json(options.json_path, server, (*transport)->stats(), worst_late_s)) {
    return fail(kName, "could not write " + options.json_path, program::kFailed);
  }
  return program::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Plays recorded or built-in motion to Reckoner clients.", kName};
  add_options(app, options);
  if (const auto code = program::parse(app, argc, argv)) return *code;
  spdlog::set_default_logger(spdlog::stderr_color_mt(kName));
  if (options.quiet) spdlog::set_level(spdlog::level::warn);
  program::catch_stop_signals();
  return run(options);
}
