// SPDX-License-Identifier: MIT
// What honest players see while one player returns again and again, with tokens and tickets that a real gate
// judges. Virtual time; player_sessions_test.cpp has the same attackers over sockets.
#include "tests/support/gate_transport.hpp"
#include "tests/support/watched_bodies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using CK = ClientEvent::Kind;
using SK = ServerEvent::Kind;

constexpr double kAttackS = 8.0, kEndS = 20.0;
constexpr int kBodies = 40;
constexpr std::uint64_t kAttackerId = 7;
constexpr SocketAddress kAttackerHost{0x0B000001, 700};
const harness::LinkOptions kLink{.latency_ms = 30.0, .jitter_ms = 5.0};

/// A sealed server. Its game gives every player an avatar that all others see. Honest players have client ids
/// from 101 on, and return with their tickets.
class TokenWorld {
 public:
  TokenWorld(std::uint64_t seed, const std::string& script = {}, std::uint32_t max_clients = 16)
      : world_(config(seed, script, max_clients)), bodies_(world_, kBodies) {
    gate_->who = [this](std::size_t connection) { return caller(connection); };
    world_.after_tick = [this](double time_s) {
      give_avatars();
      if (each_tick) each_tick(time_s);
    };
  }

  /// Adds an honest player that watches, over links that no script changes.
  std::size_t add_watcher() {
    watcher_ = world_.add_client({}, {}, both_ways(kLink));
    watcher_connection_ = world_.network().newest_client();
    return watcher_;
  }
  /// Adds an honest player that returns when its connection is lost.
  std::size_t add_player() {
    players_.push_back(world_.add_dialing_client());
    return players_.back();
  }
  /// Connects as the attacker, and shows this token or ticket.
  std::size_t attack(const ConnectToken& shown) {
    const std::size_t client = world_.add_client({}, {}, both_ways(kLink));
    shown_.insert_or_assign(world_.network().newest_client(), shown);
    connections_[client] = world_.network().newest_client();
    return client;
  }
  /// The ticket that a client of the attacker got. It must have been admitted.
  [[nodiscard]] ConnectToken ticket(std::size_t client) const {
    return gate_->tickets.at(connections_.at(client));
  }
  [[nodiscard]] bool is_admitted(std::size_t client) const {
    return gate_->tickets.contains(connections_.at(client));
  }
  void look(std::size_t client, double time_s, SameTimeErrors& errors) const {
    bodies_.look(client, time_s, errors);
  }
  /// The session of a client id; null if there is none.
  [[nodiscard]] ClientId session_of(std::uint64_t client_id) {
    for (const ClientId each : world_.server().clients()) {
      if (gate_->login(world_.server().peer(each)).client_id == client_id) return each;
    }
    return {};
  }

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] GateTransport& gate() { return *gate_; }

  std::function<void(double time_s)> each_tick;

 private:
  WorldConfig config(std::uint64_t seed, const std::string& script, std::uint32_t max_clients) {
    WorldConfig config;
    config.links = both_ways(kLink);
    config.seed = seed;
    config.script = script;
    config.silence_timeout_s = 2.0;
    config.server.bytes_per_second = 64'000;  // avatars and motions compete for it
    config.server.max_clients = max_clients;
    config.door = [this](Transport& network) {
      auto gate = std::make_unique<GateTransport>(
          network, secure::GateConfig{.most_sessions = 200, .handshakes_per_second = 0.0});
      gate_ = gate.get();
      return gate;
    };
    return config;
  }

  GateTransport::Caller caller(std::size_t connection) {
    if (const auto attacker = shown_.find(connection); attacker != shown_.end())
      return {attacker->second, kAttackerHost};
    const auto player = honest_owner(connection);
    if (!player) return {};  // the client has given up this connection
    const auto last = last_.find(*player);
    const bool has_ticket = last != last_.end() && gate_->tickets.contains(last->second);
    const ConnectToken shown =
        has_ticket ? gate_->tickets.at(last->second) : gate_->issue(101 + *player, world_.now_s());
    last_[*player] = connection;
    return {shown, {0x0C000001 + static_cast<std::uint32_t>(*player), 900}};
  }
  [[nodiscard]] std::optional<std::size_t> honest_owner(std::size_t connection) {
    if (connection == watcher_connection_) return watcher_;
    for (const std::size_t each : players_) {
      if (world_.dialer(each).client() == connection) return each;
    }
    return std::nullopt;
  }

  void give_avatars() {
    for (; events_ < world_.server_events().size(); ++events_) {
      const ServerEvent& event = world_.server_events()[events_];
      if (event.kind == SK::client_joined) {
        const double place_m = 8.0 * event.client.value;
        avatars_[event.client.value] =
            world_.add_body(Circle{.radius_m = 3.0, .centre = {place_m, 40.0, 0.0}}, {}, "avatar");
      }
      if (event.kind == SK::client_left) {
        if (const auto avatar = avatars_.extract(event.client.value)) world_.remove_body(avatar.mapped());
      }
    }
  }

  GateTransport* gate_ = nullptr;
  World world_;
  WatchedBodies bodies_;
  std::size_t watcher_ = 0, watcher_connection_ = 0;
  std::vector<std::size_t> players_;                // honest clients that dial
  std::map<std::size_t, std::size_t> last_;         // newest connection of an honest client
  std::map<std::size_t, ConnectToken> shown_;       // by connection of the attacker
  std::map<std::size_t, std::size_t> connections_;  // of the attacker's clients
  std::map<std::uint32_t, EntityId> avatars_;
  std::size_t events_ = 0;
};

// The player has kept tokens back. Twenty times a second it shows one of them or its ticket. Every half
// second the backend lets it come back, and the game kicks it again.
SameTimeErrors play_kicked(std::uint64_t seed, bool attacks) {
  TokenWorld sealed_world(seed);
  World& world = sealed_world.world();
  const std::size_t watcher = sealed_world.add_watcher();
  const std::size_t player = sealed_world.attack(sealed_world.gate().issue(kAttackerId, 0.0));
  std::vector<ConnectToken> old;
  for (int i = 0; i < 8; ++i)
    old.push_back(sealed_world.gate().issue(kAttackerId, 0.001 * i));
  SameTimeErrors errors;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity>) {
    if (client == watcher && time_s >= kAttackS) sealed_world.look(watcher, time_s, errors);
  };
  world.run_to(kAttackS - 1.0);
  EXPECT_TRUE(sealed_world.is_admitted(player));
  old.push_back(sealed_world.ticket(player));
  EXPECT_TRUE(world.server().kick(sealed_world.session_of(kAttackerId), "cheating"));
  int ticks = 0, returns = 0;
  std::vector<std::size_t> with_old, with_new;
  sealed_world.each_tick = [&](double time_s) {
    if (!attacks || time_s < kAttackS || time_s > kEndS - 1.0) return;
    ++ticks;
    if (ticks % 3 == 0)
      with_old.push_back(sealed_world.attack(old[static_cast<std::size_t>(returns++) % old.size()]));
    if (ticks % 30 == 0)
      with_new.push_back(sealed_world.attack(sealed_world.gate().issue(kAttackerId, time_s)));
    const ClientId session = sealed_world.session_of(kAttackerId);
    if (ticks % 30 == 29 && session) (void)world.server().kick(session, "cheating");
  };
  world.run_to(kEndS);
  const auto is_admitted = [&](std::size_t client) { return sealed_world.is_admitted(client); };
  EXPECT_EQ(std::ranges::count_if(with_old, is_admitted), 0);
  EXPECT_TRUE(std::ranges::all_of(with_new, is_admitted));
  if (attacks) {
    EXPECT_GT(with_old.size(), 200u);
    EXPECT_EQ(sealed_world.gate().refused(), with_old.size());
    EXPECT_GT(world.count(SK::client_joined), 20u);
  }
  return errors;
}

TEST(ReturningAttacker, KickedPlayerDisturbsNobody) {
  expect_equal_error_beside("kicked player", play_kicked);
}

// Three honest players lose their connection for five seconds. Meanwhile one login returns 20 times a second
// with its ticket, but joins anew each time. Counted are the watcher from the first return on, and the others
// since they are back.
SameTimeErrors play_lost(std::uint64_t seed, bool attacks) {
  constexpr double kBackS = kAttackS + 5.0, kShownAgainS = kBackS + 3.0;
  TokenWorld sealed_world(seed, "8 loss=100\n13 loss=0\n", 8);
  World& world = sealed_world.world();
  const std::size_t watcher = sealed_world.add_watcher();
  std::vector<std::size_t> honest;
  for (int i = 0; i < 3; ++i)
    honest.push_back(sealed_world.add_player());
  std::size_t attacker = sealed_world.attack(sealed_world.gate().issue(kAttackerId, 0.0));
  SameTimeErrors errors;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity>) {
    const bool is_back = time_s >= kShownAgainS && std::ranges::count(honest, client) > 0;
    if ((client == watcher && time_s >= kAttackS) || is_back) sealed_world.look(client, time_s, errors);
  };
  int ticks = 0, returns = 0;
  std::size_t most_sessions = 0;
  sealed_world.each_tick = [&](double time_s) {
    most_sessions = std::max(most_sessions, world.server().clients().size());
    if (!attacks || time_s < kAttackS || time_s > kEndS - 1.0) return;
    if (++ticks % 3 != 0 || !sealed_world.is_admitted(attacker)) return;
    attacker = sealed_world.attack(sealed_world.ticket(attacker));
    ++returns;
  };
  world.run_to(kEndS);
  EXPECT_EQ(most_sessions, honest.size() + 2) << "of the others, the watcher and the attacker";
  EXPECT_EQ(world.count(SK::client_lost) > honest.size(), attacks);
  for (const std::size_t client : honest) {
    EXPECT_EQ(world.count(client, CK::resumed), 1u) << client;
    EXPECT_EQ(world.count(client, CK::restarted), 0u) << client;
  }
  if (attacks) {
    EXPECT_GT(returns, 75);
    EXPECT_GT(world.count(SK::client_joined), 75u);
  }
  return errors;
}

TEST(ReturningAttacker, LoginThatJoinsAgainAndAgainDisturbsNobody) {
  expect_equal_error_beside("login that joins again", play_lost);
}

}  // namespace
}  // namespace reckoner::test
