// SPDX-License-Identifier: MIT
#include "client/src/testing/test_switches.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/load_roles.hpp"
#include "harness/stress/load/roles/lossy_transport.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/security.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <glm/geometric.hpp>
#include <nlohmann/json.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner::harness {
namespace {

constexpr int kFramesPerMeasurement = 4;  // of a watched client
constexpr double kWatchedTurnS = 0.002;   // a watched client runs as often as a real one

struct Player {
  std::unique_ptr<NetworkTransport> transport;
  std::unique_ptr<LossyTransport> lossy;  // in front of `transport`
  std::unique_ptr<Client> client;
  bool joined = false;
  bool watched = false;
  double next_turn_s = 0.0;
  double next_frame_s = 0.0;
  int frames = 0;
  ClientStats before;
};

class LoadClients {
 public:
  LoadClients(const LoadClientsOptions& options, HostAndPort server, std::optional<SecretKey> key)
      : options_(options), server_(std::move(server)), key_(std::move(key)), world_(options.world) {}

  int run() {
    const double start_s = program::monotonic_s();
    while (!ended_ && !program::stop_requested()) {
      const double now_s = program::monotonic_s();
      const auto due = static_cast<std::size_t>((now_s - start_s) * options_.join_rate_hz) + 1;
      while (players_.size() < std::min(due, options_.count)) {
        players_.emplace_back();
        if (const std::string wrong = dial(players_.size() - 1, now_s); !wrong.empty())
          return report_error(wrong, program::kFailed);
      }
      for (std::size_t i = 0; i < players_.size(); ++i) {
        Player& player = players_[i];
        if (program::monotonic_s() < player.next_turn_s) continue;
        turn(player, program::monotonic_s());
        const ClientStatus status = player.client->status();
        // On a busy machine, the answer to a first attempt can come too late. The parent process gives up if
        // no client joins for a long time.
        const bool dials_again =
            options_.dials_again && status == ClientStatus::disconnected && !player.joined;
        const std::string wrong = dials_again ? dial(i, program::monotonic_s()) : std::string{};
        if (!wrong.empty()) return report_error(wrong, program::kFailed);
        if (status == ClientStatus::refused || (status == ClientStatus::disconnected && !dials_again))
          return report_error("a client: " + player.client->refusal(), program::kFailed);
      }
      handle_commands();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    leave();
    return program::kOk;
  }

 private:
  // Connects a player, for the first time or again. Returns an error message, or an empty text.
  std::string dial(std::size_t index, double now_s) {
    Player player;
    auto transport = NetworkTransport::connect({.host = server_.host,
                                                .port = server_.port,
                                                .security = security_of(index),
                                                .transport = options_.transport});
    if (!transport) return transport.error();
    player.transport = std::move(*transport);
    ClientConfig config;
    config.archetypes = program::archetypes();
    // A client runs once per picture. The small reduction makes sure that it sends an acknowledgement in the
    // third picture after the last one.
    config.ack_interval_s = std::max(0.0, kAckIntervalS - 0.25 / options_.frame_rate_hz);
    player.lossy = std::make_unique<LossyTransport>(*player.transport, 0.01 * options_.loss_percent,
                                                    options_.first_id + index);
    player.client = std::make_unique<Client>(make_test_client(std::move(config), *player.lossy));
    player.watched = index < options_.measured;
    player.next_turn_s = now_s;
    const Player ended =
        std::exchange(players_[index], std::move(player));  // its client is destroyed before its transport
    return {};
  }

  // A fresh token for a client, as from a backend.
  [[nodiscard]] OrInsecure<ClientSecurity> security_of(std::size_t index) const {
    if (!key_) return Insecure{};
    constexpr double kGoodForS = 60.0;
    ConnectGrant grant{.client_id = options_.first_id + index};
    grant.servers = {{parse_host(server_.host)->host, server_.port}};
    return ClientSecurity{*program::issue_now(grant, *key_, kGoodForS), program::kGameNumber};
  }

  void turn(Player& player, double now_s) {
    player.client->update(now_s);
    const bool late = options_.frame_rate_hz < options_.tick_rate_hz;
    const double pace_s = player.watched && !late ? kWatchedTurnS : 1.0 / options_.frame_rate_hz;
    player.next_turn_s = std::max(player.next_turn_s + pace_s, now_s);
    if (!player.joined && player.client->status() == ClientStatus::joined) {
      player.joined = true;
      fmt::print("joined {}\n", ++joined_);
      std::fflush(stdout);
    }
    if (measuring_ && options_.talk_bytes > 0) talk(*player.client);
    while (player.client->poll_message()) {
    }
    if (!player.watched) {
      while (player.client->poll_event()) {
      }
      return;
    }
    if (now_s < player.next_frame_s) return;
    player.next_frame_s = now_s + 1.0 / options_.frame_rate_hz;
    const auto shown = player.client->shown();
    while (player.client->poll_event()) {
    }
    if (measuring_ && ++player.frames % kFramesPerMeasurement == 0) measure_errors(shown, now_s);
  }

  // Sends as many messages as the client takes.
  void talk(Client& client) {
    constexpr int kMostAtOnce = 1000;
    const std::vector<std::byte> text(options_.talk_bytes, std::byte{'a'});
    for (int i = 0; i < kMostAtOnce && client.send(text, Delivery::reliable); ++i) {
    }
  }

  void measure_errors(std::span<const ShownEntity> shown, double now_s) {
    const double time_s = now_s - options_.epoch_s;
    ++measured_frames_;
    for (const ShownEntity& entity : shown) {
      const std::size_t number = LoadWorld::number_of(entity.info->name);
      if (number >= world_.moving()) continue;
      errors_m_.push_back(glm::distance(entity.shown.position, world_.moving(number, time_s).position));
    }
  }

  // The mean number of moving entities that a client shows now.
  [[nodiscard]] double seen() const {
    std::size_t moving = 0;
    for (const Player& player : players_) {
      for (const ShownEntity& entity : player.client->shown())
        moving += LoadWorld::number_of(entity.info->name) < world_.moving() ? 1 : 0;
    }
    return static_cast<double>(moving) / static_cast<double>(std::max<std::size_t>(players_.size(), 1));
  }

  void handle_commands() {
    while (const auto line = parent_lines_.next()) {
      if (line->starts_with("measure ")) {
        measuring_ = true;
        for (Player& player : players_)
          player.before = player.client->stats();
      } else if (*line == "report") {
        report();
      } else {
        ended_ = true;
      }
    }
    if (parent_lines_.closed()) ended_ = true;
  }

  void report() {
    measuring_ = false;
    std::uint64_t updates = 0, datagrams = 0, lost = 0;
    for (const Player& player : players_) {
      const ClientStats& now = player.client->stats();
      updates += now.updates_applied - player.before.updates_applied;
      datagrams += now.datagrams_received - player.before.datagrams_received;
      lost += now.datagrams_lost - std::min(now.datagrams_lost, player.before.datagrams_lost);
    }
    const nlohmann::json json = {{"updates_applied", updates},
                                 {"datagrams_received", datagrams},
                                 {"datagrams_lost", lost},
                                 {"looks", measured_frames_},
                                 {"seen", seen()},
                                 {"error_m_p50", quantile(errors_m_, 0.5)},
                                 {"error_m_p95", quantile(errors_m_, 0.95)},
                                 {"error_m_p99", quantile(errors_m_, 0.99)}};
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
  }

  void leave() {
    for (Player& player : players_)
      player.client->leave();
    constexpr double kLongestS = 1.0;  // the messages of talking clients do not matter any more
    const double until_s = program::monotonic_s() + kLongestS;
    for (bool left = false; !left && program::monotonic_s() < until_s;) {
      left = true;
      for (Player& player : players_) {
        player.client->update(program::monotonic_s());
        left = left && player.client->status() == ClientStatus::disconnected;
      }
      if (!left) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  LoadClientsOptions options_;
  HostAndPort server_;
  std::optional<SecretKey> key_;
  LoadWorld world_;
  ParentLines parent_lines_;
  std::vector<Player> players_;
  std::size_t joined_ = 0;
  bool measuring_ = false;
  std::vector<double> errors_m_;  // of the watched clients
  std::size_t measured_frames_ = 0;
  bool ended_ = false;
};

}  // namespace

int run_load_clients(const LoadClientsOptions& options) {
  program::catch_stop_signals();
  lower_priority();
  if (const std::string wrong = raise_open_file_limit(kSocketsPerClient * options.count); !wrong.empty()) {
    return report_error(wrong, program::kFailed);
  }
  auto server = program::parse_host_port(options.server);
  if (!server) return report_error(server.error());
  std::optional<SecretKey> key;
  if (!options.key.empty()) {
    const auto read = program::read_key_file(options.key);
    if (!read) return report_error(read.error());
    key = *read;
  }
  return LoadClients(options, std::move(*server), std::move(key)).run();
}

}  // namespace reckoner::harness
