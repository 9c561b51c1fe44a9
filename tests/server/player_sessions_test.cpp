// SPDX-License-Identifier: MIT
// What one player can do with its tokens and tickets: a server with a key over real sockets, and raw clients
// that do what no Client does.
#include "net/src/messages/messages.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/welcome_reader.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

using SK = ServerEvent::Kind;

constexpr std::uint64_t kGame = 12;
constexpr double kPatienceS = 40.0;  // generous, because the machine may be busy

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t unix_s() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

/// A client over a real socket that sends only what the test says.
class Guest {
 public:
  Guest(std::uint16_t port, const OrInsecure<ClientSecurity>& security,
        std::uint16_t version = kProtocolVersion) {
    auto connecting = NetworkTransport::connect(
        {.host = loopback(), .port = port, .security = security, .version = version});
    EXPECT_TRUE(connecting) << connecting.error();
    transport_ = std::move(*connecting);
  }

  void turn() {
    if (!transport_) return;
    transport_->service(0.0);
    while (const auto event = transport_->poll()) {
      if (event->kind == TransportEvent::Kind::connected) server_ = event->peer;
      if (event->kind == TransportEvent::Kind::disconnected) ended_ = unpack_end_code(event->reason);
      if (event->kind == TransportEvent::Kind::received) read(event->payload);
    }
  }
  void join() { ask({}); }
  /// As a client does that lost its connection. If the session is gone, it asks for a new one.
  void resume(ClientId client, const SessionKey& key) { ask(ResumeRequest{client, key, 0}); }
  /// Ends without a goodbye of the game. The server keeps the session as lost.
  void vanish() { transport_.reset(); }

  [[nodiscard]] bool is_connected() const { return static_cast<bool>(server_); }
  [[nodiscard]] bool has_joined() const { return client_.has_value(); }
  [[nodiscard]] bool has_ended() const { return ended_.has_value(); }
  [[nodiscard]] EndReason why() const { return ended_ ? ended_->reason : EndReason::none; }
  [[nodiscard]] ClientId client() const { return client_.value_or(ClientId{}); }
  [[nodiscard]] const SessionKey& key() const { return key_; }
  [[nodiscard]] ConnectToken ticket() const { return *transport_->ticket(); }

 private:
  void ask(std::optional<ResumeRequest> resume) {
    const std::uint32_t hash = archetype_hash(ServerConfig{}.archetypes);
    transport_->send(server_, request_datagram({.archetype_hash = hash, .resume = resume}));
  }
  void read(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader head = read_server_header(reader);
    const auto welcome = welcome_.take(head, reader);
    if (!welcome) return;
    client_ = welcome->client;
    key_ = welcome->key;
  }

  std::unique_ptr<NetworkTransport> transport_;
  PeerId server_;
  std::optional<EndCode> ended_;
  std::optional<ClientId> client_;
  SessionKey key_;
  WelcomeReader welcome_;
};

/// A server that admits clients with a token, and its guests. All run in turn on this thread.
class TokenHouse {
 public:
  explicit TokenHouse(std::uint32_t max_clients = 16, ServerSecurity security = {.key = SecretKey{}}) {
    security.key = key_;
    security.game = kGame;
    security.peers_per_address = 200;
    security.handshakes_per_second = 0.0;
    auto listening = NetworkTransport::listen(
        {.host = loopback(), .max_peers = max_clients + kSpareConnections, .security = security});
    EXPECT_TRUE(listening) << listening.error();
    transport_ = std::move(*listening);
    ServerConfig config;
    config.max_clients = max_clients;
    auto created = Server::create(config, *transport_);
    EXPECT_TRUE(created) << created.error();
    server_.emplace(std::move(*created));
  }

  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s() + 60};
    grant.servers = {{loopback_ip(), transport_->port()}};
    return *issue_token(grant, key_, kGame);
  }
  Guest& dial(const ConnectToken& with, std::uint16_t version = kProtocolVersion) {
    return *guests_.emplace_back(
        std::make_unique<Guest>(transport_->port(), ClientSecurity{with, kGame}, version));
  }

  void turn() {
    server_->receive(now_s());
    if (now_s() >= server_->tick_time_s(server_->next_tick())) server_->tick(now_s());
    while (auto event = server_->poll_event())
      events_.push_back(std::move(*event));
    turn_guests();
  }
  void turn_guests() {
    for (const auto& guest : guests_)
      guest->turn();
  }
  /// The events of the transport wait for the game.
  void turn_without_game() {
    transport_->service(0.0);
    turn_guests();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool until(const std::function<bool()>& done, double patience_s = kPatienceS) {
    for (const double end_s = steady_s() + patience_s; steady_s() < end_s;
         std::this_thread::sleep_for(std::chrono::microseconds(200))) {
      turn();
      if (done()) return true;
    }
    return false;
  }
  void pass(double seconds) {
    (void)until([] { return false; }, seconds);
  }
  bool connects(Guest& guest) {
    return until([&] { return guest.is_connected() || guest.has_ended(); }) && guest.is_connected();
  }
  /// Joins as a new client. False if the server refuses the token.
  bool joins(Guest& guest) {
    if (!connects(guest)) return false;
    guest.join();
    return until([&] { return guest.has_joined() || guest.has_ended(); }) && guest.has_joined();
  }
  Guest& joined(const ConnectToken& with) {
    Guest& guest = dial(with);
    EXPECT_TRUE(joins(guest));
    return guest;
  }
  bool admits(const ConnectToken& with) { return joins(dial(with)); }
  /// The guest's connection breaks. Returns when the server has noticed.
  void lose(Guest& guest) {
    const std::size_t before = count(SK::client_lost);
    guest.vanish();
    EXPECT_TRUE(until([&] { return count(SK::client_lost) > before; }));
  }

  [[nodiscard]] std::size_t count(SK kind) const {
    return static_cast<std::size_t>(std::ranges::count(events_, kind, &ServerEvent::kind));
  }
  [[nodiscard]] bool has_left(ClientId client) const {
    return std::ranges::any_of(events_, [&](const ServerEvent& event) {
      return event.kind == SK::client_left && event.client == client;
    });
  }
  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] NetworkTransport& transport() { return *transport_; }
  [[nodiscard]] double now_s() const { return steady_s() - started_s_; }

 private:
  SecretKey key_ = SecretKey::make();
  double started_s_ = steady_s();
  std::unique_ptr<NetworkTransport> transport_;
  std::optional<Server> server_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<ServerEvent> events_;
};

TEST(KickedPlayer, CannotReturnWithWhatWasIssuedBefore) {
  TokenHouse house(40);
  const ConnectToken kept_back = house.token(7);
  Guest& other = house.joined(house.token(8));
  Guest& player = house.joined(house.token(7));
  const ConnectToken ticket = player.ticket();
  EXPECT_TRUE(house.server().kick(player.client(), "cheating"));
  EXPECT_TRUE(house.until([&] { return player.has_ended(); }));
  EXPECT_EQ(player.why(), EndReason::kicked);
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(house.admits(kept_back)) << i;
    EXPECT_FALSE(house.admits(ticket)) << i;
  }
  EXPECT_GE(house.transport().stats().refusals[Refusal::token_reused], 12u);
  EXPECT_TRUE(house.admits(house.token(7))) << "the backend has let the player come back";
  EXPECT_FALSE(house.admits(kept_back));
  EXPECT_FALSE(other.has_ended());
}

TEST(KickedPlayer, CannotReturnIfItWasLostWhenItWasKicked) {
  TokenHouse house(40);
  const ConnectToken kept_back = house.token(7);
  Guest& player = house.joined(house.token(7));
  const ConnectToken ticket = player.ticket();
  const ClientId client = player.client();
  house.lose(player);
  EXPECT_TRUE(house.server().kick(client, "cheating"));
  EXPECT_FALSE(house.admits(ticket));
  EXPECT_FALSE(house.admits(kept_back));
  EXPECT_EQ(house.server().client_count(), 0u);
  EXPECT_TRUE(house.admits(house.token(7)));
}

// The player opens a second connection while the first one is kicked. It is connected, and the server's game
// has not seen it yet.
TEST(KickedPlayer, CannotJoinOverAConnectionThatBeganBeforeTheKick) {
  for (const bool server_saw_it : {true, false}) {
    for (const bool resumes : {true, false}) {
      TokenHouse house;
      Guest& first = house.joined(house.token(7));
      const ClientId client = first.client();
      const SessionKey key = first.key();
      const ConnectToken ticket = first.ticket();
      house.lose(first);
      Guest& second = house.dial(ticket);
      if (server_saw_it) {
        ASSERT_TRUE(house.connects(second));
        house.pass(0.05);  // for the last acknowledgement
      } else {
        for (const double end_s = steady_s() + kPatienceS; !second.is_connected() && steady_s() < end_s;)
          house.turn_without_game();
        for (int i = 0; i < 20; ++i)  // for the last acknowledgement
          house.turn_without_game();
        ASSERT_TRUE(second.is_connected());
      }
      resumes ? second.resume(client, key) : second.join();
      EXPECT_TRUE(house.server().kick(client, "cheating"));
      EXPECT_TRUE(house.until([&] { return second.has_ended(); }));
      if (server_saw_it) {
        EXPECT_EQ(second.why(), EndReason::kicked);
      }
      EXPECT_FALSE(second.has_joined());
      EXPECT_EQ(house.server().client_count(), 0u);
      EXPECT_EQ(house.count(SK::client_joined), 1u);
      EXPECT_FALSE(house.admits(second.ticket()));
    }
  }
}

// A game may allow a player several sessions. A kick is about the player.
TEST(KickedPlayer, LosesAllItsSessions) {
  TokenHouse house(16, {.key = SecretKey{}, .sessions_per_client = 3});
  Guest& first = house.joined(house.token(7));
  Guest& second = house.joined(house.token(7));
  Guest& lost = house.joined(house.token(7));
  Guest& other = house.joined(house.token(8));
  const std::vector<ConnectToken> tickets{first.ticket(), second.ticket(), lost.ticket()};
  house.lose(lost);
  EXPECT_TRUE(house.server().kick(first.client(), "cheating"));
  EXPECT_TRUE(house.until([&] { return first.has_ended() && second.has_ended(); }));
  EXPECT_EQ(second.why(), EndReason::kicked);
  EXPECT_TRUE(house.until([&] { return house.count(SK::client_left) == 3; }));
  for (const ConnectToken& ticket : tickets)
    EXPECT_FALSE(house.admits(ticket));
  EXPECT_FALSE(other.has_ended());
  EXPECT_TRUE(house.admits(house.token(7)));
}

// Without a limit of sessions, all players of a game may have one client id. Then a kick is about one login.
TEST(KickedPlayer, TakesNobodyElseAlongWithoutALimitOfSessions) {
  TokenHouse house(16, {.key = SecretKey{}, .sessions_per_client = 0});
  Guest& player = house.joined(house.token(0));
  Guest& lost = house.joined(house.token(0));
  Guest& other = house.joined(house.token(0));
  const ConnectToken ticket = player.ticket(), lost_ticket = lost.ticket(), others_ticket = other.ticket();
  house.lose(lost);
  EXPECT_TRUE(house.server().kick(player.client(), "cheating"));
  EXPECT_TRUE(house.server().kick(lost.client(), "cheating"));
  EXPECT_TRUE(house.until([&] { return player.has_ended(); }));
  EXPECT_FALSE(house.admits(ticket));
  EXPECT_FALSE(house.admits(lost_ticket));
  EXPECT_FALSE(other.has_ended());
  EXPECT_TRUE(house.admits(others_ticket));
}

// The player has left before the game could kick it, or another server has kicked it.
TEST(KickedPlayer, NeedsNoSession) {
  TokenHouse house;
  const ConnectToken kept_back = house.token(7);
  Guest& player = house.joined(house.token(7));
  const ConnectToken ticket = player.ticket();
  EXPECT_EQ(house.server().kick_player(7, std::string(kMaxKickReasonBytes + 1, 'x')), 0u);
  EXPECT_FALSE(player.has_ended());
  EXPECT_EQ(house.server().kick_player(7, "cheating"), 1u);
  EXPECT_TRUE(house.until([&] { return player.has_ended(); }));
  EXPECT_EQ(player.why(), EndReason::kicked);
  EXPECT_EQ(house.server().kick_player(7, "cheating"), 0u);
  EXPECT_EQ(house.server().kick_player(9, "cheating elsewhere"), 0u);
  EXPECT_FALSE(house.admits(ticket));
  EXPECT_FALSE(house.admits(kept_back));
  EXPECT_TRUE(house.admits(house.token(7)));

  TokenHouse shared(16, {.key = SecretKey{}, .sessions_per_client = 0});
  Guest& one = shared.joined(shared.token(0));
  EXPECT_EQ(shared.server().kick_player(0, "all"), 0u) << "the client id identifies nobody";
  EXPECT_TRUE(shared.admits(one.ticket()));
}

// A login that returns with tickets, but joins anew each time, had as many lost sessions as returns. They
// evicted the sessions of honest players who had lost their connection.
TEST(LostSessions, AreOneForEachLogin) {
  constexpr int kReturns = 40;
  for (const bool with_tickets : {true, false}) {
    TokenHouse house(8);
    std::vector<Guest*> honest;
    std::vector<ConnectToken> tickets;
    for (std::uint64_t id = 101; id < 104; ++id) {
      honest.push_back(&house.joined(house.token(id)));
      tickets.push_back(honest.back()->ticket());
      house.lose(*honest.back());
    }
    ConnectToken next = house.token(7);
    for (int i = 0; i < kReturns; ++i) {
      Guest& attacker = house.joined(next);
      next = with_tickets ? attacker.ticket() : house.token(7);
      if (i % 2 == 0) house.lose(attacker);  // otherwise the next connection replaces this one
      EXPECT_LE(house.server().clients().size(), honest.size() + 1) << i;
    }
    for (std::size_t i = 0; i < honest.size(); ++i) {
      EXPECT_FALSE(house.has_left(honest[i]->client())) << i;
      Guest& back = house.dial(tickets[i]);
      ASSERT_TRUE(house.connects(back));
      back.resume(honest[i]->client(), honest[i]->key());
      EXPECT_TRUE(house.until([&] { return house.count(SK::client_back) == i + 1 || back.has_ended(); }));
    }
    EXPECT_EQ(house.count(SK::client_back), honest.size());
  }
}

TEST(LostSessions, CountAmongTheSessionsOfAClientId) {
  TokenHouse house(16, {.key = SecretKey{}, .sessions_per_client = 2});
  for (int i = 0; i < 6; ++i) {
    house.lose(house.joined(house.token(7)));
    EXPECT_EQ(house.server().clients().size(), i == 0 ? 1u : 2u) << i;
  }
  EXPECT_EQ(house.count(SK::client_left), 4u);
}

// The player starts the newer program with the token that the lobby gave it.
TEST(OtherVersion, UsesUpNoToken) {
  for (const std::uint16_t version :
       {std::uint16_t{kProtocolVersion - 1}, std::uint16_t{kProtocolVersion + 1}}) {
    TokenHouse house;
    const ConnectToken token = house.token(7);
    Guest& old = house.dial(token, version);
    EXPECT_TRUE(house.until([&] { return old.has_ended(); }));
    EXPECT_EQ(old.why(), EndReason::version);
    EXPECT_TRUE(house.admits(token));
    EXPECT_FALSE(house.admits(token)) << "now it is used up";
  }
}

// The player's game has crashed, and it returns with a new token.
TEST(LostSessions, EndWhenThePlayerReturnsWithANewToken) {
  TokenHouse house;
  Guest& before = house.joined(house.token(7));
  house.lose(before);
  const Guest& after = house.joined(house.token(7));
  EXPECT_TRUE(house.has_left(before.client()));
  EXPECT_FALSE(house.has_left(after.client()));
  EXPECT_EQ(house.server().clients().size(), 1u);
}

}  // namespace
}  // namespace reckoner::test
