// SPDX-License-Identifier: MIT
// A kicked player cannot return with anything that the backend has issued before, for any order of events and
// for any change of the server's clock.
#include "gate_server.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::GateServer;
using test::kClient;
using test::kGame;
using test::token_of;

std::uint64_t unix_ms(const GateServer& house) {
  return house.unix_s * 1000;
}

// What Server::kick() does, at any gate.
void kick(GateServer& house, std::uint64_t client_id, std::size_t gate = 0) {
  house.gates[gate].revoke_login({.client_id = client_id}, house.now_s, unix_ms(house));
}

TEST(GateKick, UnusedTokensIssuedBeforeAreRefused) {
  for (const std::size_t gates : {1u, 3u}) {
    GateServer house(gates);
    std::vector<ConnectToken> kept_back;
    for (int i = 0; i < 5; ++i) {
      kept_back.push_back(house.token(7));
      house.pass(1);
    }
    const auto ticket = house.join(house.token(7));
    ASSERT_TRUE(ticket);
    kept_back.push_back(house.token_issued_at(unix_ms(house), 7));
    const ConnectToken others = house.token(8);
    house.pass(1);
    kick(house, 7);
    house.pass(1);
    for (std::size_t gate = 0; gate < gates; ++gate) {
      for (const ConnectToken& token : kept_back)
        EXPECT_FALSE(house.join(token, {5, 5}, gate));
      EXPECT_FALSE(house.join(token_of(*ticket), kClient, gate));
      EXPECT_EQ(house.gates[gate].refusal(), Refusal::token_reused);
    }
    EXPECT_TRUE(house.join(others, {6, 6}));
    EXPECT_TRUE(house.join(house.token(7), {7, 7})) << "issued after the kick";
    for (const ConnectToken& token : kept_back)
      EXPECT_FALSE(house.join(token, {5, 5})) << "the newer login changes nothing";
  }
}

// The player was never seen, or long ago: only its client id is known.
TEST(GateKick, NeedsNoLoginThatTheServerRemembers) {
  GateServer house;
  const ConnectToken token = house.token(7);
  house.pass(1);
  kick(house, 7);
  EXPECT_FALSE(house.join(token));
  house.pass(1);
  EXPECT_TRUE(house.join(house.token(7)));
}

TEST(GateKick, TimesAreComparedToTheMillisecond) {
  GateServer house;
  const std::uint64_t at_ms = unix_ms(house);
  const ConnectToken just_before = house.token_issued_at(at_ms + 499, 7);
  const ConnectToken just_after = house.token_issued_at(at_ms + 500, 7);
  house.gates[0].revoke_login({.client_id = 7}, house.now_s + 0.5, at_ms + 500);
  house.pass(1);
  EXPECT_FALSE(house.join(just_before));
  EXPECT_TRUE(house.join(just_after));
}

// The kick comes between two steps of a handshake.
TEST(GateKick, HoldsDuringAHandshake) {
  for (const int steps : {1, 2}) {
    GateServer house(2);
    ClientHandshake client(house.token(7), kGame);
    ASSERT_TRUE(client.receive(*house.ask(kClient, *client.to_send(house.now_s))));
    if (steps == 2) {
      house.talk(client, kClient);
      ASSERT_TRUE(client.session());
    }
    house.pass(1);
    kick(house, 7, 1);
    if (steps == 1) house.talk(client, kClient);
    EXPECT_EQ(client.session().has_value(), steps == 2);
    if (steps == 2) {
      EXPECT_TRUE(house.gates[0].login(client.session()->number).is_revoked);
      EXPECT_FALSE(house.bind(client)) << "no connection is bound to it";
      EXPECT_FALSE(house.join(token_of(client.session()->ticket)));
    }
    house.pass(20);
    house.gates[0].tidy(house.now_s, house.unix_s);
    EXPECT_EQ(house.sessions(), 0u);
    EXPECT_TRUE(house.join(house.token(7)));
  }
}

// A session that is being ended keeps its number, and its next tickets are refused, too.
TEST(GateKick, TicketsSentAfterwardsAreRefused) {
  GateServer house;
  ClientHandshake client(house.token(7), kGame);
  house.talk(client, kClient);
  ASSERT_TRUE(house.bind(client));
  house.pass(1);
  kick(house, 7);
  EXPECT_EQ(house.sessions(), 1u) << "the server ends the connection, with the reason for the player";
  house.pass(301);
  std::size_t sent = 0;
  house.gates[0].renew_tickets(house.now_s, house.unix_s, [&](const Gate::Session&, const Ticket& ticket) {
    ++sent;
    EXPECT_FALSE(house.join(token_of(ticket)));
  });
  EXPECT_EQ(sent, 1u);
}

// Used and unused tokens of any age stay refused as long as they are valid.
TEST(GateKick, IsRememberedAsLongAsTokensAreValid) {
  GateServer house;
  ConnectGrant grant{.client_id = 7, .expires_s = house.unix_s + 900'000, .servers = {test::kServer}};
  grant.issued_ms = unix_ms(house);
  const ConnectToken kept_back = *issue_token(grant, house.config.key, kGame);
  house.pass(1);
  kick(house, 7);
  for (int i = 0; i < 8900; ++i) {
    house.pass(100);
    house.gates[0].tidy(house.now_s, house.unix_s);
  }
  EXPECT_FALSE(house.join(kept_back));
  EXPECT_EQ(house.gates[0].refusal(), Refusal::token_reused);
  EXPECT_TRUE(house.join(house.token(7)));
}

TEST(GateKick, MemoryIsBounded) {
  GateConfig config;
  config.tokens.most = 100;
  GateServer house(1, config);
  const ConnectToken first = house.token(1), last = house.token(1000);
  house.pass(1);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    house.now_s += 0.001;
    kick(house, id);
    kick(house, 1 + id / 2);  // again
    ASSERT_LE(house.config.used->kicked(), 100u);
  }
  EXPECT_EQ(house.config.used->kicked(), 100u);
  EXPECT_FALSE(house.join(last));
  EXPECT_TRUE(house.join(first)) << "the oldest kick is forgotten";
}

// A kick in the wrong hour: the server's clock was or is wrong.
TEST(GateKick, HoldsWhenTheWallClockIsSet) {
  for (const std::uint64_t by_s : {20u, 3000u, 1'000'000u}) {
    for (const bool ahead : {true, false}) {
      for (const bool wrong_at_kick : {true, false}) {
        SCOPED_TRACE(by_s);
        SCOPED_TRACE(ahead);
        SCOPED_TRACE(wrong_at_kick);
        GateServer house;
        std::uint64_t right_s = house.unix_s;  // the clock of the backend
        const auto token = [&] {
          ConnectGrant grant{.client_id = 7, .expires_s = right_s + 2'000'000, .servers = {test::kServer}};
          grant.issued_ms = right_s * 1000;
          return *issue_token(grant, house.config.key, kGame);
        };
        const auto pass = [&](std::uint64_t seconds) {
          house.pass(seconds);
          right_s += seconds;
        };
        const auto set_wrong = [&](bool wrong) {
          house.unix_s = wrong ? (ahead ? right_s + by_s : right_s - by_s) : right_s;
        };
        ASSERT_TRUE(house.join(token()));
        pass(3);
        const ConnectToken kept_back = token();
        pass(5);
        set_wrong(wrong_at_kick);
        kick(house, 7);
        EXPECT_FALSE(house.join(kept_back));
        pass(5);
        set_wrong(!wrong_at_kick);
        EXPECT_FALSE(house.join(kept_back)) << "the clock was set";
        pass(5);
        set_wrong(false);
        EXPECT_FALSE(house.join(kept_back)) << "the clock is right";
        EXPECT_TRUE(house.join(token())) << "issued after the kick";
      }
    }
  }
}

// Without a limit of sessions, a client id may belong to many players. Then one login is kicked.
TEST(GateKick, IsForOneLoginWithoutALimitOfSessions) {
  GateConfig config;
  config.tokens.sessions_per_client = 0;
  GateServer house(1, config);
  ClientHandshake client(house.token(7), kGame), other(house.token(7), kGame);
  house.talk(client, {1, 1});
  house.talk(other, {2, 2});
  ASSERT_TRUE(house.bind(client) && house.bind(other));
  const PeerLogin login = house.gates[0].login(client.session()->number);
  EXPECT_EQ(login.client_id, 7u);
  EXPECT_EQ(login.sessions_per_client, 0u);
  EXPECT_EQ(login.host, IpAddress(1));
  house.pass(1);
  house.gates[0].revoke_login(login, house.now_s, unix_ms(house));
  EXPECT_TRUE(house.gates[0].login(client.session()->number).is_revoked);
  EXPECT_FALSE(house.gates[0].login(other.session()->number).is_revoked);
  EXPECT_FALSE(house.join(token_of(client.session()->ticket), {1, 1}));
  EXPECT_TRUE(house.join(token_of(other.session()->ticket), {2, 2}));
}

// A server without tokens has nothing to revoke.
TEST(GateKick, OfAnEmptyLoginDoesNothing) {
  GateServer house;
  const auto ticket = house.join(house.token(7));
  ASSERT_TRUE(ticket);
  house.gates[0].revoke_login({}, house.now_s, unix_ms(house));
  EXPECT_EQ(house.config.used->kicked(), 0u);
  EXPECT_TRUE(house.join(token_of(*ticket)));
  EXPECT_FALSE(house.gates[0].login(12345).client_id) << "there is no such session";
}

}  // namespace
}  // namespace reckoner::secure
