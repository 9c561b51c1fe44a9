// SPDX-License-Identifier: MIT
#include "harness/cluster/cluster_process.hpp"
#include "harness/cluster/wander.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "programs/common/security.hpp"

#include <cstdio>
#include <map>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <reckoner/cluster/gateway.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner::harness {
namespace {

ServerConfig server_config(const ClusterGatewayOptions& options) {
  ServerConfig config;
  config.tick_rate_hz = options.world.tick_rate_hz;
  config.archetypes = cluster_config(options.world).archetypes;
  config.max_clients = options.clients;
  config.max_entities = kMaxEntities;
  config.interest.radius_m = options.world.radius_m;
  return config;
}

std::uint64_t number_at_start(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

// A gateway of the cluster, or for comparison a single server that moves the bodies itself.
class ClusterGateway {
 public:
  ClusterGateway(const ClusterGatewayOptions& options, NetworkTransport& transport, Gateway* gateway,
                 NatsBus* bus, Server* single, double epoch_s)
      : options_(options),
        wander_(options.world.side_m(), options.world.seed),
        transport_(transport),
        gateway_(gateway),
        bus_(bus),
        server_(gateway != nullptr ? gateway->server() : *single),
        epoch_s_(epoch_s) {}

  int run() {
    while (!ended_ && !program::stop_requested()) {
      const double due_s = epoch_s_ + server_.tick_time_s(server_.next_tick());
      while (program::monotonic_s() < due_s) {
        transport_.wait(std::min(due_s - program::monotonic_s(), 0.002));
        receive();
      }
      receive();
      serve_clients();
      if (gateway_ != nullptr) {
        gateway_->tick(program::monotonic_s());
      } else {
        move_bodies();
        server_.tick(program::monotonic_s() - epoch_s_);
      }
      handle_commands();
    }
    return program::kOk;
  }

 private:
  void receive() {
    if (gateway_ != nullptr) return gateway_->receive(program::monotonic_s());
    server_.receive(program::monotonic_s() - epoch_s_);
  }

  void serve_clients() {
    while (server_.poll_event()) {
    }
    const double time_s = server_.tick_time_s(server_.next_tick());
    for (const ClientId client : server_.clients()) {
      const auto identity = transport_.identity(server_.peer(client));
      if (!identity) continue;
      const glm::dvec3 eye = options_.fixed_view_m >= 0.0
                                 ? glm::dvec3{options_.fixed_view_m, options_.fixed_view_m, 0.0}
                                 : wander_.at(identity->client_id % options_.world.entities, time_s).position;
      (void)server_.set_view(client, eye);
    }
    // The first 8 bytes of a message name the entity to which it goes. A single server answers itself.
    while (const auto message = server_.poll_message()) {
      if (message->payload.size() <= 8) continue;
      const auto text = message->payload.subspan(8);
      const EntityId to = entity_id_of(number_at_start(message->payload));
      if (gateway_ != nullptr) {
        (void)gateway_->send(message->sender, to, text);
      } else {
        const std::vector<std::byte> copy(text.begin(), text.end());
        (void)server_.send(message->sender, copy, Delivery::reliable);
      }
    }
  }

  void move_bodies() {
    const double time_s = server_.tick_time_s(server_.next_tick());
    while (ids_.size() < options_.world.entities)
      ids_.push_back(*server_.spawn(0, fmt::format("b{}", ids_.size()), wander_.at(ids_.size(), time_s)));
    for (std::size_t i = 0; i < ids_.size(); ++i)
      (void)server_.move(ids_[i], wander_.at(i, time_s));
  }

  void handle_commands() {
    while (const auto line = lines_.next()) {
      if (*line == "measure") {
        began_s_ = program::monotonic_s();
        cpu_before_s_ = process_cpu_time().total_s();
        wire_before_ = transport_.stats().wire_bytes_sent;
        if (bus_ != nullptr) bus_before_ = bus_->stats();
        if (gateway_ != nullptr) before_ = gateway_->stats();
      } else if (*line == "report") {
        report();
      } else {
        ended_ = true;
      }
    }
    if (lines_.closed()) ended_ = true;
  }

  void report() {
    const double seconds = program::monotonic_s() - began_s_;
    nlohmann::json json = {{"seconds", seconds},
                           {"clients", server_.client_count()},
                           {"entities", server_.entity_count()},
                           {"client_bytes", transport_.stats().wire_bytes_sent - wire_before_},
                           {"cpu", (process_cpu_time().total_s() - cpu_before_s_) / seconds}};
    if (gateway_ != nullptr) {
      const ClusterStats& now = gateway_->stats();
      std::vector<std::uint64_t> silence = now.silence_ticks;
      for (std::size_t i = 0; i < silence.size(); ++i)
        silence[i] -= before_.silence_ticks[i];
      json["silence_ticks"] = silence;
      json["orphan_s"] = now.orphan_s;
      json["stale_refused"] = now.stale_refused;
      json["gaps"] = now.gaps;
      json["repairs"] = now.repairs;
      json["malformed"] = now.malformed;
      json["lag_ms"] = 1000.0 * now.lag_s;
      json["cells"] = gateway_->cell_count();
      json["bus_bytes"] = bus_->stats().bytes_received - bus_before_.bytes_received;
      json["dropped"] = bus_->stats().dropped;
    }
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
  }

  ClusterGatewayOptions options_;
  Wander wander_;
  NetworkTransport& transport_;
  Gateway* gateway_;
  NatsBus* bus_;
  Server& server_;
  double epoch_s_;
  ParentLines lines_;
  std::vector<EntityId> ids_;
  ClusterStats before_;
  BusStats bus_before_;
  double began_s_ = 0.0;
  double cpu_before_s_ = 0.0;
  std::uint64_t wire_before_ = 0;
  bool ended_ = false;
};

}  // namespace

int run_cluster_gateway(const ClusterGatewayOptions& options) {
  program::catch_stop_signals();
  const auto key = program::read_key_file(options.key);
  if (!key) return report_error(key.error());
  ListenConfig listen{.host = "127.0.0.1",
                      .port = options.port,
                      .max_peers = options.clients + kSpareConnections,
                      .security = Insecure{}};
  // Clients come through conditioners, whose addresses their tokens name.
  listen.security = ServerSecurity{.key = *key,
                                   .game = program::kGameNumber,
                                   .any_server = true,
                                   .peers_per_address = options.clients + kSpareConnections,
                                   .handshakes_per_second = 1e4};
  listen.limits.address_datagrams_per_second = 0.0;
  listen.limits.address_bytes_per_second = 0.0;
  auto transport = NetworkTransport::listen(listen);
  if (!transport) return report_error(transport.error(), program::kFailed);
  const auto announce = [&](double epoch_s) {
    fmt::print("epoch {:.9f}\nlistening on port {}\n", epoch_s, (*transport)->port());
    std::fflush(stdout);
  };
  if (options.single) {
    auto server = Server::create(server_config(options), **transport);
    if (!server) return report_error(server.error(), program::kFailed);
    const double epoch_s = program::monotonic_s();
    announce(epoch_s);
    return ClusterGateway(options, **transport, nullptr, nullptr, &*server, epoch_s).run();
  }
  auto entered = enter_world(options.world, options.name);
  if (!entered) return report_error(entered.error(), program::kFailed);
  auto gateway = Gateway::create(cluster_config(options.world), {.server = server_config(options)},
                                 entered->member, *entered->bus, **transport, program::monotonic_s());
  if (!gateway) return report_error(gateway.error(), program::kFailed);
  announce(entered->member.epoch_s);
  return ClusterGateway(options, **transport, &*gateway, entered->bus.get(), nullptr, entered->member.epoch_s)
      .run();
}

}  // namespace reckoner::harness
