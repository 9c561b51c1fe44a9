// SPDX-License-Identifier: MIT
// Which sessions end when there are too many of one player, or of all. The players' logins over real sockets
// are in player_sessions_test.cpp.
#include "server/src/session/session_logins.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

using EK = TransportEvent::Kind;
using SK = ServerEvent::Kind;

PeerLogin login_of(std::uint64_t client_id, std::uint8_t login, std::uint32_t limit = 1,
                   IpAddress host = IpAddress(1)) {
  PeerLogin made{.client_id = client_id, .sessions_per_client = limit, .host = host};
  made.id.fill(std::byte{login});
  return made;
}

TEST(SessionLogins, NewSessionsReplaceThoseOfTheSameLogin) {
  SessionLogins logins;
  logins.set({1}, login_of(7, 1, 0));
  logins.set({2}, login_of(7, 2, 0));
  logins.lose({1});
  EXPECT_EQ(logins.replaced_by(login_of(7, 1, 0), {}), std::vector<ClientId>{{1}});
  EXPECT_EQ(logins.replaced_by(login_of(7, 1, 0), {1}), std::vector<ClientId>{}) << "it resumes";
  EXPECT_EQ(logins.replaced_by(login_of(7, 2, 0), {}), std::vector<ClientId>{{2}}) << "lost or not";
  EXPECT_EQ(logins.replaced_by(login_of(7, 3, 0), {}), std::vector<ClientId>{}) << "no limit of sessions";
  EXPECT_EQ(logins.replaced_by(login_of(8, 1, 0), {}), std::vector<ClientId>{}) << "another client id";
  EXPECT_EQ(logins.replaced_by({}, {}), std::vector<ClientId>{}) << "no token";
}

TEST(SessionLogins, ThePlayersOldestLostSessionsGiveWay) {
  SessionLogins logins;
  for (std::uint32_t i = 1; i <= 4; ++i)
    logins.set({i}, login_of(7, static_cast<std::uint8_t>(i), 3));
  logins.lose({3});
  logins.lose({1});
  EXPECT_EQ(logins.replaced_by(login_of(7, 9, 3), {}), (std::vector<ClientId>{{3}, {1}}));
  EXPECT_EQ(logins.replaced_by(login_of(7, 9, 4), {}), std::vector<ClientId>{{3}});
  PeerLogin watcher = login_of(7, 9, 1);
  watcher.entrance = 1;
  EXPECT_EQ(logins.replaced_by(watcher, {}), std::vector<ClientId>{}) << "counted separately";
  logins.set({3}, login_of(7, 3, 3));
  EXPECT_EQ(logins.lost_count(), 1u) << "it is back";
  logins.remove({1});
  EXPECT_EQ(logins.lost_count(), 0u);
  EXPECT_EQ(logins.of_player(7), (std::vector<ClientId>{{2}, {4}, {3}}));
  EXPECT_EQ(logins.of_player(8), std::vector<ClientId>{});
  logins.set({5}, login_of(8, 5, 0));
  EXPECT_EQ(logins.of_player(8), std::vector<ClientId>{}) << "its client id identifies nobody";
}

TEST(SessionLogins, EvictsFromThePlayerOrHostWithMostLostSessions) {
  SessionLogins logins;
  std::uint32_t sessions = 0;
  const auto lose = [&](const PeerLogin& login) {
    logins.set({++sessions}, login);
    logins.lose({sessions});
  };
  EXPECT_FALSE(logins.to_evict());
  lose(login_of(1, 1, 1, IpAddress(101)));
  lose(login_of(2, 2, 1, IpAddress(102)));
  EXPECT_EQ(logins.to_evict(), ClientId{1}) << "all have one: the first lost";
  lose(login_of(3, 3, 1, IpAddress(102)));
  EXPECT_EQ(logins.to_evict(), ClientId{2}) << "of the host with two";
  for (std::uint8_t i = 0; i < 3; ++i)  // from three hosts
    lose(login_of(9, i, 5, IpAddress(200u + i)));
  EXPECT_EQ(logins.to_evict(), ClientId{4}) << "of the client id with three";
  logins.remove({4});
  logins.remove({5});
  EXPECT_EQ(logins.to_evict(), ClientId{2});
  // Client ids that identify nobody, and hosts that the transport does not know, are no groups.
  for (std::uint8_t i = 0; i < 9; ++i)
    lose(login_of(50, i, 0, IpAddress{}));
  EXPECT_EQ(logins.to_evict(), ClientId{2});
}

/// A server's transport with clients that send what the test says.
class Hosts final : public Transport {
 public:
  void connect(PeerId peer, const PeerLogin& login) {
    logins_[peer] = login;
    waiting_.push_back({EK::connected, peer});
  }
  void join(PeerId peer) {
    waiting_.push_back({EK::received, peer,
                        request_datagram({.archetype_hash = archetype_hash(ServerConfig{}.archetypes)})});
  }
  void lose(PeerId peer) { waiting_.push_back({EK::disconnected, peer}); }

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override {
    if (waiting_.empty()) return std::nullopt;
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    return TransportEvent{.kind = current_.kind, .peer = current_.peer, .payload = current_.payload};
  }
  bool send(PeerId, std::span<const std::byte>) override { return true; }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] PeerLogin login(PeerId peer) const override { return logins_.at(peer); }
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  struct Waiting {
    EK kind = EK::received;
    PeerId peer;
    std::vector<std::byte> payload{};
  };
  std::map<PeerId, PeerLogin> logins_;
  std::deque<Waiting> waiting_;
  Waiting current_;
  TransportStats stats_;
};

// On an insecure server, a host is all that the server knows of a player. One host joins and vanishes again
// and again, while players of other hosts have lost their connection.
TEST(LostSessionsWithoutTokens, OneHostEvictsOnlyItsOwn) {
  Hosts hosts;
  ServerConfig config;
  config.max_clients = 8;
  auto server = Server::create(config, hosts);
  ASSERT_TRUE(server);
  std::vector<ClientId> left;
  std::uint32_t peers = 0;
  const auto join_and_vanish = [&](std::uint32_t host) {
    const PeerId peer{++peers};
    hosts.connect(peer, {.host = IpAddress(host)});
    hosts.join(peer);
    hosts.lose(peer);
    server->receive(0.1 * peers);
    while (const auto event = server->poll_event()) {
      if (event->kind == SK::client_left) left.push_back(event->client);
    }
  };
  for (std::uint32_t host = 1; host <= 3; ++host)
    join_and_vanish(host);
  for (int i = 0; i < 75; ++i)
    join_and_vanish(99);
  EXPECT_EQ(left.size(), 70u);
  for (const ClientId honest : {ClientId{1}, ClientId{2}, ClientId{3}})
    EXPECT_EQ(std::ranges::count(left, honest), 0) << honest.value;
  EXPECT_EQ(server->clients().size(), 8u);
}

}  // namespace
}  // namespace reckoner::test
