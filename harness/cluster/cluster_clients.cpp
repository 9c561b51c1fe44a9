// SPDX-License-Identifier: MIT
#include "harness/cluster/cluster_roles.hpp"
#include "harness/cluster/wander.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/security.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>
#include <glm/geometric.hpp>
#include <nlohmann/json.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace reckoner::harness {
namespace {

constexpr double kHandoverWindowS = 0.3;  // after the mark of a new holder arrives
constexpr double kMessageEveryS = 1.0;
constexpr double kSettleS = 0.5;  // after an entity appears, s
constexpr double kBackS = 1.0;    // after a client is back, s

struct Seen {
  glm::vec3 velocity{0.0f};
  glm::vec3 true_velocity{0.0f};
  double since_s = 0.0;
  double at_s = 0.0;
  std::int64_t holder = -1;
  double handed_over_s = -1e300;
};

struct Player {
  std::unique_ptr<NetworkDialer> dialer;
  std::unique_ptr<Client> client;
  std::uint64_t number = 0;
  bool watched = false;
  bool joined = false;
  double next_turn_s = 0.0;
  double next_frame_s = 0.0;
  std::unordered_map<EntityId, Seen> seen;
  // Messages to the body that it follows, and their echoes.
  double next_message_s = 0.0;
  std::uint32_t session = 0;
  std::uint32_t sent = 0;
  std::uint32_t echoed = 0;
  double back_s = -1e300;  // when it was admitted again, at another gateway or at the same one
};

class ClusterClients {
 public:
  ClusterClients(const ClusterClientsOptions& options, const SecretKey& key)
      : options_(options), key_(key), wander_(options.world.side_m(), options.world.seed) {}

  int run() {
    double next_join_s = program::monotonic_s();
    while (!ended_ && !program::stop_requested()) {
      const double now_s = program::monotonic_s();
      if (players_.size() < options_.count && now_s >= next_join_s) {
        next_join_s = now_s + 0.01;
        if (const std::string wrong = start_player(now_s); !wrong.empty())
          return report_error(wrong, program::kFailed);
      }
      for (Player& player : players_) {
        if (program::monotonic_s() < player.next_turn_s) continue;
        turn(player, program::monotonic_s());
      }
      handle_commands();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return program::kOk;
  }

 private:
  std::string start_player(double now_s) {
    Player player;
    player.number = players_.size();
    ConnectGrant grant{.client_id = player.number + 1};
    // Each client prefers another gateway; its token names all of them.
    std::vector<std::uint16_t> ports;
    for (std::size_t from = 0; from < options_.servers.size();) {
      const std::size_t comma = std::min(options_.servers.find(',', from), options_.servers.size());
      ports.push_back(
          static_cast<std::uint16_t>(std::atoi(options_.servers.substr(from, comma - from).c_str())));
      from = comma + 1;
    }
    for (std::size_t i = 0; i < ports.size(); ++i)
      grant.servers.push_back({0x7F000001, ports[(i + player.number) % ports.size()]});
    const auto token = program::issue_now(grant, key_, 600.0);
    if (!token) return token.error();
    player.dialer = std::make_unique<NetworkDialer>(
        ConnectConfig{.security = ClientSecurity{*token, program::kGameNumber}});
    ClientConfig config;
    config.archetypes = cluster_config(options_.world).archetypes;
    // A dead gateway is noticed soon, and the next one tried soon.
    config.reconnect.silence_s = 0.8;
    config.reconnect.attempt_s = 1.2;  // a handshake over `intercity` takes 0.7 s if nothing is lost
    config.reconnect.first_wait_s = 0.3;
    config.reconnect.most_wait_s = 1.0;
    auto client = Client::create(config, *player.dialer);
    if (!client) return client.error();
    player.client = std::make_unique<Client>(std::move(*client));
    player.watched = players_.size() < options_.watched;
    player.next_turn_s = now_s;
    players_.push_back(std::move(player));
    return {};
  }

  void turn(Player& player, double now_s) {
    player.client->update(now_s);
    player.next_turn_s = std::max(player.next_turn_s + (player.watched ? 0.004 : 1.0 / 30.0), now_s);
    const ClientStatus status = player.client->status();
    if (!player.joined && status == ClientStatus::joined) {
      player.joined = true;
      fmt::print("joined {}\n", ++joined_);
      std::fflush(stdout);
    }
    while (const auto event = player.client->poll_event()) {
      if (event->kind == ClientEvent::Kind::lost) ++lost_;
      if (event->kind == ClientEvent::Kind::restarted || event->kind == ClientEvent::Kind::resumed) {
        fmt::print("back {} {:.3f}\n", player.number, now_s);
        std::fflush(stdout);
      }
      if (event->kind == ClientEvent::Kind::restarted) restart(player, now_s);
    }
    while (const auto message = player.client->poll_message())
      handle_echo(player, message->payload);
    if (status == ClientStatus::joined) send_message(player, now_s);
    if (!player.watched || now_s < player.next_frame_s) return;
    player.next_frame_s = now_s + 1.0 / options_.frame_rate_hz;
    const auto shown = player.client->shown();
    if (status == ClientStatus::joined) look(player, shown, now_s);
  }

  // A new session: messages of the old one may be lost with its gateway.
  void restart(Player& player, double now_s) {
    player.back_s = now_s;
    abandoned_ += player.sent - player.echoed;
    ++player.session;
    player.sent = player.echoed = 0;
  }

  void send_message(Player& player, double now_s) {
    if (now_s < player.next_message_s || stopped_) return;
    player.next_message_s = now_s + kMessageEveryS;
    const EntityId to = followed(player);
    if (!to) return;
    std::vector<std::byte> payload(8 + 8);
    for (std::size_t i = 0; i < 8; ++i)
      payload[i] = static_cast<std::byte>(to_number(to) >> (8 * i));
    const std::uint32_t number = player.sent + 1;
    for (std::size_t i = 0; i < 4; ++i) {
      payload[8 + i] = static_cast<std::byte>(number >> (8 * i));
      payload[12 + i] = static_cast<std::byte>(player.session >> (8 * i));
    }
    if (!player.client->send(payload, Delivery::reliable)) return;
    ++player.sent;
    ++messages_;
  }

  void handle_echo(Player& player, std::span<const std::byte> payload) {
    if (payload.size() != 8) return;
    std::uint32_t number = 0, session = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      number |= std::to_integer<std::uint32_t>(payload[i]) << (8 * i);
      session |= std::to_integer<std::uint32_t>(payload[4 + i]) << (8 * i);
    }
    if (session != player.session) return;
    // Exactly once and in order: a number that was skipped is lost, one that was seen is repeated.
    if (number > player.echoed + 1) skipped_ += number - player.echoed - 1;
    if (number <= player.echoed) ++repeated_;
    player.echoed = std::max(player.echoed, number);
  }

  // The body that the client follows, under the id that its gateway shows.
  EntityId followed(const Player& player) const {
    const auto known = followed_.find(player.number);
    if (known != followed_.end() && player.client->info(known->second) != nullptr) return known->second;
    return {};
  }

  void look(Player& player, std::span<const ShownEntity> shown, double now_s) {
    const double time_s = now_s - epoch_s_;
    const std::uint64_t own = (player.number + 1) % options_.world.entities;
    std::set<std::size_t> bodies;
    for (const ShownEntity& entity : shown) {
      const EntityInfo* info = player.client->info(entity.id);
      if (info == nullptr || info->name.size() < 2) continue;
      const std::size_t body = std::strtoull(info->name.c_str() + 1, nullptr, 10);
      if (!bodies.insert(body).second) ++shown_twice_;
      if (body == own) followed_[player.number] = entity.id;
      if (const auto [it, fresh] = ids_.emplace(body, entity.id); !fresh && it->second != entity.id)
        ++other_ids_;
      const State truth = wander_.at(body, time_s);
      Seen& seen = player.seen[entity.id];
      const bool continuous = now_s - seen.at_s < 2.5 / options_.frame_rate_hz;
      // An entity that appears again after a change of the gateway must be where it is.
      if (!continuous && measuring_ && now_s - player.back_s < kBackS)
        rejoin_errors_m_.push_back(glm::distance(entity.shown.position, truth.position));
      if (!continuous) seen = {.since_s = now_s};
      const FieldValue* holder = player.client->field(entity.id, 0);
      const std::int64_t mark = holder != nullptr ? std::get<std::int64_t>(*holder) : 0;
      if (seen.holder >= 0 && mark != seen.holder) {
        seen.handed_over_s = now_s;
        ++seen_handovers_;
      }
      seen.holder = mark;
      const bool settled = now_s - seen.since_s > kSettleS;
      if (measuring_ && settled) {
        errors_m_.push_back(glm::distance(entity.shown.position, truth.position));
        if (continuous) {
          const double step =
              glm::length(entity.shown.velocity - seen.velocity - (truth.velocity - seen.true_velocity));
          steps_mps_.push_back(step);
          if (now_s - seen.handed_over_s < kHandoverWindowS) handover_steps_mps_.push_back(step);
        }
      }
      seen.velocity = entity.shown.velocity;
      seen.true_velocity = truth.velocity;
      seen.at_s = now_s;
    }
    if (measuring_) visible_ += shown.size(), ++looks_;
  }

  void handle_commands() {
    while (const auto line = lines_.next()) {
      double epoch_s = 0.0;
      if (std::sscanf(line->c_str(), "epoch %lf", &epoch_s) == 1) {
        epoch_s_ = epoch_s;
      } else if (*line == "measure") {
        measuring_ = true;
      } else if (*line == "stop") {
        stopped_ = true;
        measuring_ = false;
      } else if (*line == "report") {
        report();
      } else {
        ended_ = true;
      }
    }
    if (lines_.closed()) ended_ = true;
  }

  void report() {
    std::uint64_t unanswered = 0;
    for (const Player& player : players_)
      unanswered += player.sent - player.echoed;
    std::size_t connected = 0;
    for (const Player& player : players_)
      connected += player.client->status() == ClientStatus::joined ? 1 : 0;
    const auto q = [](std::vector<double>& values, double share) {
      return values.empty() ? 0.0 : quantile(values, share);
    };
    const nlohmann::json json = {{"joined", joined_},
                                 {"connected", connected},
                                 {"lost_connections", lost_},
                                 {"messages", messages_},
                                 {"messages_unanswered", unanswered},
                                 {"messages_skipped", skipped_},
                                 {"messages_repeated", repeated_},
                                 {"messages_abandoned", abandoned_},
                                 {"shown_twice", shown_twice_},
                                 {"other_ids", other_ids_},
                                 {"handovers_seen", seen_handovers_},
                                 {"handover_samples", handover_steps_mps_.size()},
                                 {"samples", errors_m_.size()},
                                 {"visible", static_cast<double>(visible_) / std::max(1.0, looks_)},
                                 {"error_m_p50", q(errors_m_, 0.5)},
                                 {"error_m_p95", q(errors_m_, 0.95)},
                                 {"error_m_p99", q(errors_m_, 0.99)},
                                 {"rejoin_samples", rejoin_errors_m_.size()},
                                 {"rejoin_error_m_p95", q(rejoin_errors_m_, 0.95)},
                                 {"velocity_step_mps_p99", q(steps_mps_, 0.99)},
                                 {"handover_step_mps_p99", q(handover_steps_mps_, 0.99)}};
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
  }

  ClusterClientsOptions options_;
  SecretKey key_;
  Wander wander_;
  ParentLines lines_;
  std::vector<Player> players_;
  std::map<std::uint64_t, EntityId> followed_;
  std::unordered_map<std::size_t, EntityId> ids_;  // of bodies, as the first client saw them
  double epoch_s_ = 0.0;
  bool measuring_ = false;
  bool stopped_ = false;
  bool ended_ = false;
  std::size_t joined_ = 0;
  std::uint64_t lost_ = 0, messages_ = 0, skipped_ = 0, repeated_ = 0, abandoned_ = 0;
  std::uint64_t shown_twice_ = 0, other_ids_ = 0, seen_handovers_ = 0, visible_ = 0;
  double looks_ = 0.0;
  std::vector<double> errors_m_, rejoin_errors_m_, steps_mps_, handover_steps_mps_;
};

}  // namespace

int run_cluster_clients(const ClusterClientsOptions& options) {
  program::catch_stop_signals();
  if (const std::string wrong = raise_open_file_limit(options.count); !wrong.empty())
    return report_error(wrong, program::kFailed);
  const auto key = program::read_key_file(options.key);
  if (!key) return report_error(key.error());
  return ClusterClients(options, *key).run();
}

}  // namespace reckoner::harness
