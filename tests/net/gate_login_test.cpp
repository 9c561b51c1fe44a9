// SPDX-License-Identifier: MIT
// One token admits one client to one session at a time. This applies to any use of its tickets, for tokens
// seen by an eavesdropper, and for any change of the server's clock.
#include "gate_server.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::GateServer;
using test::kClient;
using test::kGame;
using test::kNow;
using test::kServer;
using test::token_of;

TEST(GateLogin, TokenAndItsTicketsGiveOneSessionAtATime) {
  for (const std::size_t gates : {1u, 3u}) {
    GateServer house(gates);
    std::optional<Ticket> ticket;
    std::vector<ConnectToken> all = {house.token(7)};
    for (std::uint16_t i = 0; i < 200; ++i) {
      house.now_s += 0.2;
      const SocketAddress from{100u + i / 16u, static_cast<std::uint16_t>(i + 1)};
      ticket = house.join(all.back(), from, i % gates);
      ASSERT_TRUE(ticket) << i << ' '
                          << name_of(house.gates[i % gates].refusal().value_or(Refusal::malformed));
      all.push_back(token_of(*ticket));
      ASSERT_EQ(house.sessions(), 1u) << i;
      ASSERT_EQ(house.ended.size(), i);
    }
    EXPECT_EQ(house.ended_by_another, 0u);
    for (std::size_t i = 0; i + 1 < all.size(); i += 9) {
      house.now_s += 1.0;
      EXPECT_FALSE(house.join(all[i], kClient, i % gates)) << i;
    }
    EXPECT_EQ(house.sessions(), 1u);
    EXPECT_EQ(house.config.used->size(), 1u) << "a login has one entry";
  }
}

// Sessions to which no connection is bound yet are limited too.
TEST(GateLogin, SessionsWithoutAConnectionDoNotPileUp) {
  GateServer house;
  ConnectToken token = house.token(7);
  for (std::uint16_t i = 0; i < 50; ++i) {
    ClientHandshake client(token, kGame);
    house.talk(client, {100u + i / 16u, static_cast<std::uint16_t>(i + 1)});
    ASSERT_TRUE(client.session());
    token = token_of(client.session()->ticket);
    ASSERT_EQ(house.sessions(), 1u);
  }
}

TEST(GateLogin, OnlyOneTicketOfASessionIsAccepted) {
  GateServer house;
  ClientHandshake client(house.token(), kGame);
  house.talk(client, kClient);
  ASSERT_TRUE(house.bind(client));
  std::vector<Ticket> tickets = {client.session()->ticket};
  for (int i = 0; i < 5; ++i) {
    house.now_s += 301.0;
    house.unix_s += 301;
    house.gates[0].renew_tickets(house.now_s, house.unix_s, [&](const Gate::Session&, const Ticket& ticket) {
      tickets.push_back(ticket);
    });
  }
  ASSERT_EQ(tickets.size(), 6u);
  const auto next = house.join(token_of(tickets[2]));
  ASSERT_TRUE(next);
  for (const Ticket& ticket : tickets)
    EXPECT_FALSE(house.join(token_of(ticket), {kClient.host, 7}));
  EXPECT_TRUE(house.join(token_of(*next)));
}

// A player whose game has crashed gets a new token from the backend and can join at once. The tickets of the
// older login become invalid. If a thief used that login, the thief is disconnected.
TEST(GateLogin, NewestTokenOfAClientWins) {
  GateServer house(2);
  const auto thiefs = house.join(house.token(7), {1, 1}, 0);
  const auto own = house.join(house.token(7), {2, 2}, 1);
  ASSERT_TRUE(thiefs && own);
  EXPECT_EQ(house.sessions(), 1u);
  EXPECT_EQ(house.ended_by_another, 1u);
  EXPECT_FALSE(house.join(token_of(*thiefs), {1, 1}, 0));
  EXPECT_EQ(house.gates[0].refusal(), Refusal::token_reused);
  EXPECT_EQ(house.sessions(), 1u);
  EXPECT_TRUE(house.join(token_of(*own), {2, 3}, 0));
  EXPECT_TRUE(house.join(house.token(8), {3, 3}, 0)) << "others do not notice";
  EXPECT_EQ(house.sessions(), 2u);
}

// The login that was issued first loses. This covers a ticket that a restarted server has forgotten, and a
// token that was kept back.
TEST(GateLogin, OlderLoginsAreRefusedAfterANewerOne) {
  for (const bool restarts : {false, true}) {
    GateServer house(2);
    const ConnectToken kept_back = house.token_issued_at(house.unix_s * 1000, 7);
    auto thiefs = house.join(house.token(7), {1, 1}, 0);
    thiefs = house.join(token_of(*thiefs), {1, 1}, 1);  // tickets obtained with tickets keep the issue time
    ASSERT_TRUE(thiefs);
    house.pass(1);
    auto own = house.join(house.token(7), {2, 2}, 1);
    ASSERT_TRUE(own);
    if (restarts) {
      house.restart();
      EXPECT_TRUE(house.join(token_of(*thiefs), {1, 1}, 0))
          << "the restarted server does not know the newer login";
    }
    own = house.join(token_of(*own), {2, 3}, 0);
    ASSERT_TRUE(own);
    EXPECT_FALSE(house.join(token_of(*thiefs), {1, 1}, 0));
    if (restarts) {
      house.restart();
      own = house.join(token_of(*own), {2, 3}, 0);
      ASSERT_TRUE(own);
      EXPECT_FALSE(house.join(token_of(*thiefs), {1, 1}, 0)) << "first use after the restart";
    }
    EXPECT_FALSE(house.join(kept_back, {1, 2}, 1));
    EXPECT_EQ(house.gates[1].refusal(), Refusal::token_reused);
    EXPECT_EQ(house.sessions(), 1u);
    EXPECT_TRUE(house.join(token_of(*own), {2, 4}, 0)) << "the player's session is not affected";
    EXPECT_TRUE(house.join(house.token(7), {2, 5}, 0)) << "issued later";
  }
}

// A coarse backend clock locks no player out.
TEST(GateLogin, OfTokensWithEqualIssueTimeTheLastShownWins) {
  GateServer house;
  const ConnectToken first = house.token(7), second = house.token(7);
  EXPECT_TRUE(house.join(second, {1, 1}));
  EXPECT_TRUE(house.join(first, {2, 2}));
  EXPECT_EQ(house.sessions(), 1u);
  EXPECT_TRUE(house.join(house.token(7), {3, 3}));
}

// One of several backends has a clock that is ahead. Its tokens are accepted. They block tokens of the other
// backends for ten seconds only, not for as long as its clock is ahead.
TEST(GateLogin, BackendWithAFastClockLocksNoClientOut) {
  for (const std::uint64_t ahead_s : {5u, 20u, 60u, 3600u, 1'000'000'000u}) {
    GateServer house;
    auto ticket = house.join(house.token_issued_at((house.unix_s + ahead_s) * 1000, 7));
    ASSERT_TRUE(ticket);
    for (const bool restarts : {false, true}) {
      if (restarts) {
        house.restart();
        ticket = house.join(token_of(*ticket));
        ASSERT_TRUE(ticket) << ahead_s;
      }
      house.pass(11);
      EXPECT_TRUE(house.join(house.token(7), {2, 2})) << ahead_s;
      if (!restarts) ticket = house.join(house.token_issued_at((house.unix_s + ahead_s) * 1000, 7));
    }
  }
}

TEST(GateLogin, LimitsTheSessionsOfAClient) {
  for (const std::size_t most : {2u, 5u, 0u}) {
    GateConfig config;
    config.tokens.sessions_per_client = most;
    GateServer house(1, config);
    std::vector<Ticket> tickets;
    for (std::uint16_t i = 0; i < 12; ++i) {
      const auto ticket = house.join(house.token(7), {50u + i, i});
      ASSERT_TRUE(ticket);
      tickets.push_back(*ticket);
    }
    EXPECT_EQ(house.sessions(), most == 0 ? 12u : most);
    if (most == 0) continue;
    EXPECT_FALSE(house.join(token_of(tickets[0]), {1, 1}));
    EXPECT_TRUE(house.join(token_of(tickets[11]), {2, 1}));
    EXPECT_EQ(house.sessions(), most);
  }
}

// A returning client reuses its own session slot on a full server.
TEST(GateLogin, FullServerAcceptsAReturningClient) {
  GateServer house;
  std::optional<Ticket> last;
  for (std::uint16_t i = 0; i < house.config.most_sessions_per_host; ++i)
    last = house.join(house.token(i), {kClient.host, i});
  ASSERT_TRUE(last);
  house.now_s += 20.0;
  EXPECT_FALSE(house.join(house.token(100)));
  EXPECT_TRUE(house.join(token_of(*last)));
  EXPECT_TRUE(house.join(house.token(3)));
  EXPECT_EQ(house.sessions(), house.config.most_sessions_per_host);
}

TEST(GateLogin, EavesdropperCannotUseUpAToken) {
  for (const bool ticket : {false, true}) {
    GateServer house;
    ConnectToken token = house.token();
    if (ticket) token = token_of(*house.join(token));
    ClientHandshake alice(token, kGame);
    ASSERT_TRUE(alice.receive(*house.ask({1, 1}, *alice.to_send(house.now_s))));
    const auto seen = *read_response(*alice.to_send(house.now_s));  // this response gets lost
    const std::size_t before = house.gates[0].counts().wrong_token;
    const std::size_t sessions = house.sessions();
    const KeyExchange eve;
    const auto challenge =
        *read_challenge(*house.ask({2, 2}, write(Request{kGame, eve.public_key(), kProtocolVersion})));
    Response forged = seen;
    forged.cookie = challenge.cookie;
    forged.client = eve.public_key();
    EXPECT_FALSE(house.ask({2, 2}, write(forged)));
    forged.proof = prove(forged, SecretKey::make());
    EXPECT_FALSE(house.ask({2, 2}, write(forged)));
    // With Alice's public key, the attacker gets a cookie for her own address, too, but she cannot prove that
    // she has the key.
    forged = seen;
    forged.cookie =
        read_challenge(*house.ask({2, 2}, write(Request{kGame, forged.client, kProtocolVersion})))->cookie;
    EXPECT_FALSE(house.ask({2, 2}, write(forged)));
    EXPECT_EQ(house.gates[0].counts().wrong_token, before + 3);
    EXPECT_EQ(house.sessions(), sessions) << "no session was ended";
    house.now_s += 1.0;
    house.talk(alice, {1, 1});
    EXPECT_TRUE(alice.session());
  }
}

TEST(GateLogin, AnyChangedBitOfAResponseIsDetected) {
  GateConfig config;
  config.handshakes_per_second = config.begun_per_second = 0.0;
  GateServer house(1, config);
  ClientHandshake client(house.token(), kGame);
  ASSERT_TRUE(client.receive(*house.ask(kClient, *client.to_send(house.now_s))));
  const auto sent = client.to_send(house.now_s);
  const Bytes good(sent->begin(), sent->end());
  const std::size_t bits = 8 * (good.size() - (848 - 745));  // the rest is padding
  for (std::size_t bit = 0; bit < bits; bit += 5) {
    Bytes bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(house.ask(kClient, bad)) << bit;
  }
  EXPECT_EQ(house.sessions(), 0u);
  EXPECT_TRUE(house.ask(kClient, good));
}

// The client asks two hosts of one server: its port changed, so its datagrams reached the other host.
TEST(GateLogin, TokenHasOneSessionOverSeveralGates) {
  GateServer house(2);
  const ConnectToken token = house.token();
  const SecretKey secret = SecretKey::make();
  ClientHandshake first(token, kGame, secret), second(token, kGame, secret), third(token, kGame, secret);
  house.talk(first, {1, 1}, 0);
  house.talk(second, {1, 2}, 1);
  ASSERT_TRUE(first.session() && second.session());
  EXPECT_FALSE(house.bind(first, 0)) << "replaced by the newer session";
  EXPECT_TRUE(house.bind(second, 1));
  house.talk(third, {1, 3}, 0);
  EXPECT_FALSE(third.session());
  house.end_replaced();
  EXPECT_EQ(house.sessions(), 1u);
  EXPECT_TRUE(house.ended.empty()) << "no connection was bound to it";
}

// The server's part of the key exchange is new for each session, even if all else is equal. So keys, and with
// them nonces, are never used twice.
TEST(GateLogin, EverySessionHasNewKeys) {
  GateServer house;
  const ConnectToken token = house.token();
  const SecretKey secret = SecretKey::make();
  std::set<PublicKey> servers;
  std::set<std::array<std::byte, SecretKey::kBytes>> keys;
  constexpr std::uint16_t kTimes = 5;
  for (std::uint16_t i = 0; i < kTimes; ++i) {
    if (i == 3) house.restart();
    ClientHandshake client(token, kGame, secret);
    const SocketAddress from{kClient.host, i};
    ASSERT_TRUE(client.receive(*house.ask(from, *client.to_send(house.now_s))));
    const auto answer = house.ask(from, *client.to_send(house.now_s));
    ASSERT_TRUE(answer && client.receive(*answer)) << i;
    servers.insert(*server_of(*answer));
    for (const SecretKey& key : {client.session()->keys.to_server, client.session()->keys.to_client})
      keys.insert(key.bytes());
  }
  EXPECT_EQ(servers.size(), kTimes);
  EXPECT_EQ(keys.size(), 2 * kTimes);
}

// The login is remembered as long as the session lasts. A returning client therefore replaces its session,
// and its other tickets are used up.
TEST(GateLogin, LoginIsRememberedWhileItsSessionLasts) {
  GateServer house;
  ClientHandshake client(house.token(1, kNow + 1'000'000), kGame);
  house.talk(client, kClient);
  ASSERT_TRUE(house.bind(client));
  std::vector<Ticket> tickets;
  for (int i = 0; i < 6 * 12; ++i) {
    house.pass(301);
    house.gates[0].renew_tickets(house.now_s, house.unix_s, [&](const Gate::Session&, const Ticket& ticket) {
      tickets.push_back(ticket);
    });
    house.gates[0].tidy(house.now_s, house.unix_s);
    ASSERT_EQ(house.config.used->size(), 1u) << i;
  }
  ASSERT_GT(tickets.size(), 2u);
  EXPECT_TRUE(house.join(token_of(tickets.back())));
  EXPECT_EQ(house.sessions(), 1u);
  EXPECT_EQ(house.ended, (std::vector<std::uint32_t>{client.session()->number}));
  EXPECT_FALSE(house.join(token_of(tickets[tickets.size() - 2])));
}

TEST(GateLogin, SessionHasOneConnection) {
  GateServer house;
  ClientHandshake client(house.token(), kGame);
  house.talk(client, kClient);
  EXPECT_TRUE(house.bind(client));
  EXPECT_TRUE(house.bind(client)) << "the same";
  house.gates[0].release(client.session()->number, house.now_s);
  EXPECT_FALSE(house.bind(client));
}

TEST(GateLogin, TicketsExpireWhenTheBackendSays) {
  GateServer house;
  const std::uint64_t until_s = kNow + 5000;
  auto ticket = house.join(house.token(1, until_s));
  std::size_t times = 0;
  while (ticket && times < 20) {
    EXPECT_LE(ticket->expires_s, until_s);
    house.now_s += 1000.0;
    house.unix_s += 1000;
    const auto next = house.join(token_of(*ticket));
    if (next) ++times;
    ticket = next;
  }
  EXPECT_EQ(times, 4u);
  // A client that stays connected receives no ticket that is valid beyond the backend's time.
  GateServer other;
  ClientHandshake client(other.token(1, kNow + 400), kGame);
  other.talk(client, kClient);
  ASSERT_TRUE(other.bind(client));
  std::size_t given = 0;
  for (int i = 0; i < 4; ++i) {
    other.now_s += 301.0;
    other.unix_s += 301;
    other.gates[0].renew_tickets(other.now_s, other.unix_s, [&](const Gate::Session&, const Ticket& one) {
      ++given;
      EXPECT_LE(one.expires_s, kNow + 400);
    });
  }
  EXPECT_EQ(given, 1u);
  EXPECT_EQ(other.sessions(), 1u) << "it stays";
}

TEST(GateLogin, TicketsAreRenewableForADayByDefault) {
  GateServer house;
  auto ticket = house.join(house.token());
  for (int i = 0; i < 30 && ticket; ++i) {
    house.now_s += 3500.0;
    house.unix_s += 3500;
    ticket = house.join(token_of(*ticket));
  }
  EXPECT_FALSE(ticket);
  EXPECT_NEAR(static_cast<double>(house.unix_s - kNow), 86'400.0, 3600.0);
}

// The wall clock is set ahead and back. Used tokens stay used, and clients with valid tokens are admitted
// throughout.
TEST(GateLogin, SettingTheWallClockDoesNotRevalidateTokens) {
  for (const std::uint64_t ahead_s : {60u, 3000u, 1'000'000u, 1'000'000'000u}) {
    GateServer house;
    const ConnectToken token = house.token(1);
    const auto ticket = house.join(token);
    ASSERT_TRUE(ticket);
    const auto own = house.join(token_of(*ticket));
    ASSERT_TRUE(own);
    house.unix_s += ahead_s;
    for (int i = 0; i < 1000; ++i, house.now_s += 0.02)
      house.gates[0].tidy(house.now_s, house.unix_s);
    EXPECT_TRUE(house.join(house.token(2), {9, 9}));
    house.unix_s -= ahead_s;
    EXPECT_FALSE(house.join(token, {2, 2})) << ahead_s;
    EXPECT_FALSE(house.join(token_of(*ticket), {3, 3})) << ahead_s;
    EXPECT_TRUE(house.join(house.token(3), {10, 10}));
    EXPECT_TRUE(house.join(house.token(2), {9, 9})) << "a new token is valid after any clock change";
    EXPECT_TRUE(house.join(token_of(*own), {1, 1}));
  }
}

// A ticket is used while the clock is ahead by less than a ticket's lifetime. The server keeps the entry for
// longer than the ticket appears to be valid.
TEST(GateLogin, TicketUsedWhileTheClockIsAheadStaysUsed) {
  GateServer house;
  house.unix_s += 3000;
  const auto ticket = house.join(house.token(1));
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(house.join(token_of(*ticket)));
  for (int i = 0; i < 3700; ++i, house.now_s += 1.0, ++house.unix_s)
    house.gates[0].tidy(house.now_s, house.unix_s);
  house.unix_s -= 3000;
  ASSERT_GT(ticket->expires_s, house.unix_s);
  EXPECT_FALSE(house.join(token_of(*ticket), {3, 3}));
}

TEST(GateLogin, RateLimitsMayBeSmallAndZeroMeansNoLimit) {
  const auto joins = [](double handshakes, double tokens) {
    GateConfig config;
    config.handshakes_per_second = handshakes;
    config.begun_per_second = tokens;
    GateServer house(1, config);
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < 300; ++i)
      count += house.join(house.token(i % 10), kClient) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(joins(10.0, 2000.0), 100u);
  EXPECT_EQ(joins(0.09, 2000.0), 1u);
  EXPECT_EQ(joins(10.0, 0.5), 1u);
  EXPECT_EQ(joins(0.0, 0.0), 300u);
}

TEST(GateLogin, FullTableDoesNotAffectConnectedClients) {
  GateConfig config;
  config.tokens = {.most = 100, .most_per_client = 10};
  config.handshakes_per_second = 0.0;
  config.most_sessions = config.most_sessions_per_host = 1000;
  GateServer house(1, config);
  // One client alone cannot fill the table.
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i)
    taken += house.join(house.token(1)) ? 1 : 0;
  EXPECT_EQ(taken, 10u);
  EXPECT_EQ(house.gates[0].refusal(), Refusal::handshake_limit);
  std::vector<Ticket> tickets;
  for (std::uint64_t i = 0; i < 90; ++i)
    tickets.push_back(*house.join(house.token(100 + i)));
  EXPECT_FALSE(house.join(house.token(1000)));
  EXPECT_EQ(house.gates[0].refusal(), Refusal::handshake_limit);
  for (const Ticket& ticket : tickets)
    EXPECT_TRUE(house.join(token_of(ticket)));
  EXPECT_EQ(house.config.used->size(), 100u);
  // Two hours later all entries have expired.
  for (const std::uint32_t pass_s : {3600u, 3700u}) {
    house.now_s += pass_s;
    house.unix_s += pass_s;
    EXPECT_EQ(house.join(house.token(1000)).has_value(), pass_s == 3700u);
  }
}

}  // namespace
}  // namespace reckoner::secure
