// SPDX-License-Identifier: MIT
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/recording_transport.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/load_roles.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/pace.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/security.hpp"
#include "server/src/test_switches.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

constexpr double kRecordS = 10.0;  // length of the DatagramRecord; a plain server repeats it in a loop

// Totals of a server since its start.
struct Account {
  ResourceUse use;
  double simulation_cpu_s = 0.0;
  ServerStats server;
  TransportStats wire;
};

class LoadServer {
 public:
  LoadServer(const LoadServerOptions& options, NetworkTransport& transport)
      : options_(options),
        world_(options.world),
        transport_(transport),
        recording_(transport),
        server_(make_test_server(config(options, world_), recording_)),
        epoch_s_(program::monotonic_s()) {
    for (std::size_t i = 0; i < world_.moving(); ++i)
      ids_.push_back(*server_.spawn(0, LoadWorld::moving_name(i), world_.moving(i, 0.0)));
    for (std::size_t i = 0; i < options.world.resting; ++i)
      (void)server_.spawn(0, LoadWorld::resting_name(i), world_.resting(i));
    states_.resize(world_.moving());
  }

  int run() {
    fmt::print("epoch {:.9f}\nlistening on port {}\n", epoch_s_, transport_.port());
    std::fflush(stdout);
    while (!ended_ && !program::stop_requested()) {
      const double due_s = epoch_s_ + server_.tick_time_s(server_.next_tick());
      program::receive_until(due_s, transport_, server_.client_count(), [this] { server_.receive(now_s()); });
      tick(due_s);
      handle_commands();
    }
    server_.shutdown();
    constexpr double kLongestS = 1.0;  // most clients have ended before the server
    for (const double until_s = now_s() + kLongestS; server_.closing_count() > 0 && now_s() < until_s;) {
      transport_.wait(0.01);
      server_.receive(now_s());
    }
    return program::kOk;
  }

 private:
  static ServerConfig config(const LoadServerOptions& options, LoadWorld& world) {
    ServerConfig config;
    config.tick_rate_hz = options.tick_rate_hz;
    config.send_rate_hz = options.send_rate_hz;
    config.archetypes = program::archetypes();
    config.max_clients = static_cast<std::uint32_t>(options.world.clients + options.late);
    config.max_entities = static_cast<std::uint32_t>(
        std::min<std::size_t>(options.world.entities + options.world.resting, kMaxEntities));
    // Clients and entities move to and fro. About half of the entities within the hysteresis have entered
    // before and stay relevant, so reduce the radius.
    config.interest.radius_m = world.view_radius_m() / (1.0 + 0.5 * config.interest.hysteresis);
    config.threads = options.threads;
    return config;
  }

  [[nodiscard]] double now_s() const { return program::monotonic_s() - epoch_s_; }

  void tick(double due_s) {
    const double began_s = program::monotonic_s();
    simulate();
    const double simulated_s = program::monotonic_s();
    for (std::size_t i = 0; i < ids_.size(); ++i)
      (void)server_.move(ids_[i], states_[i]);
    update_views();
    pass_messages_on();
    server_.tick(now_s());
    recording_.end_tick();
    if (!log_) return;
    log_->add(began_s - due_s, program::monotonic_s() - simulated_s);
    if (log_->size() == ticks_to_measure_) report();
  }

  // The work of the game. Its processor time is counted apart because it is not part of the measurement.
  void simulate() {
    const double before_s = thread_cpu_s();
    const double time_s = server_.tick_time_s(server_.next_tick());
    for (std::size_t i = 0; i < states_.size(); ++i)
      states_[i] = world_.moving(i, time_s);
    simulation_cpu_s_ += thread_cpu_s() - before_s;
  }

  void update_views() {
    while (const auto event = server_.poll_event()) {
      if (event->kind == ServerEvent::Kind::client_joined) viewers_.push_back(event->client);
      if (event->kind == ServerEvent::Kind::client_left) ++left_;
    }
    // Every client views the world from the roamer that it follows.
    for (std::size_t i = 0; i < viewers_.size(); ++i)
      (void)server_.set_view(viewers_[i], states_[world_.followed_by(i)].position);
  }

  // Like a chat: all clients but the sender get every message.
  void pass_messages_on() {
    while (const auto message = server_.poll_message()) {
      for (const ClientId client : server_.clients()) {
        if (client != message->sender) (void)server_.send(client, message->payload, Delivery::reliable);
      }
    }
  }

  void handle_commands() {
    while (const auto line = parent_lines_.next()) {
      double seconds = 0.0;
      if (std::sscanf(line->c_str(), "measure %lf", &seconds) == 1) {
        ticks_to_measure_ = static_cast<std::size_t>(seconds * options_.tick_rate_hz + 0.5);
        recording_.record(
            std::min(ticks_to_measure_, static_cast<std::size_t>(kRecordS * options_.tick_rate_hz)));
        log_.emplace(1.0 / options_.tick_rate_hz);
        before_ = account();
      } else {
        ended_ = true;
      }
    }
    if (parent_lines_.closed()) ended_ = true;
  }

  [[nodiscard]] Account account() const {
    return {resource_use(now_s()), simulation_cpu_s_, server_.stats(), transport_.stats()};
  }

  void report() {
    const Account now = account();
    auto json = log_->json();
    const double simulation_s = now.simulation_cpu_s - before_.simulation_cpu_s;
    add_use(json, before_.use, now.use, simulation_s);  // the simulation makes no system calls
    json["simulation_cpu_s"] = simulation_s;
    json["datagrams"] = now.wire.datagrams_sent - before_.wire.datagrams_sent;
    json["wire_bytes"] = now.wire.wire_bytes_sent - before_.wire.wire_bytes_sent;
    json["payload_bytes"] = now.wire.payload_bytes_sent - before_.wire.payload_bytes_sent;
    json["datagrams_received"] = now.wire.datagrams_received - before_.wire.datagrams_received;
    json["publishes"] = now.server.publishes - before_.server.publishes;
    json["updates_sent"] = now.server.updates_sent - before_.server.updates_sent;
    json["full_updates_sent"] = now.server.full_updates_sent - before_.server.full_updates_sent;
    json["update_bits_sent"] = now.server.update_bits_sent - before_.server.update_bits_sent;
    json["state_bytes_sent"] = now.server.state_bytes_sent - before_.server.state_bytes_sent;
    json["repairs_sent"] = now.server.repairs_sent - before_.server.repairs_sent;
    json["datagrams_lost"] = now.server.datagrams_lost - before_.server.datagrams_lost;
    json["malformed"] = now.server.malformed;
    json["messages_received"] = now.server.messages_received - before_.server.messages_received;
    json["messages_sent"] = now.server.messages_sent - before_.server.messages_sent;
    json["clients_joined"] = viewers_.size();
    json["clients_left"] = left_;
    json["peak_memory_bytes"] = peak_memory_bytes();
    log_.reset();
    if (!options_.record.empty() && !save(recording_.record(), options_.record)) {
      report_error("could not write " + options_.record, program::kFailed);
    }
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
  }

  LoadServerOptions options_;
  LoadWorld world_;
  NetworkTransport& transport_;
  RecordingTransport recording_;
  Server server_;
  double epoch_s_;
  ParentLines parent_lines_;
  std::vector<EntityId> ids_;
  std::vector<State> states_;  // in the present tick
  double simulation_cpu_s_ = 0.0;
  std::vector<ClientId> viewers_;  // in the order of joining
  std::size_t left_ = 0;
  std::size_t ticks_to_measure_ = 0;
  std::optional<TickLog> log_;  // only during a measurement
  Account before_;
  bool ended_ = false;
};

}  // namespace

int run_load_server(const LoadServerOptions& options) {
  program::catch_stop_signals();
  // No spare slots in a run with a flood, so that a slot taken by the flood would be noticed.
  const auto peers = static_cast<std::uint32_t>(options.world.clients +
                                                (options.late > 0 ? options.late : kSpareConnections));
  ListenConfig config{.host = options.listen, .port = 0, .max_peers = peers, .security = Insecure{}};
  config.limits.address_datagrams_per_second = 0.0;  // all clients have one address
  config.limits.address_bytes_per_second = 0.0;
  config.transport = options.transport;
  if (!options.key.empty()) {
    const auto key = program::read_key_file(options.key);
    if (!key) return report_error(key.error());
    // The clients join as fast as they can.
    config.security = ServerSecurity{.key = *key,
                                     .game = program::kGameNumber,
                                     .any_server = true,
                                     .peers_per_address = peers,
                                     .handshakes_per_second = 1e4};
  }
  auto transport = NetworkTransport::listen(config);
  if (!transport) return report_error(transport.error(), program::kFailed);
  return LoadServer(options, **transport).run();
}

}  // namespace reckoner::harness
