// SPDX-License-Identifier: MIT
#include "net/src/secure/gate.hpp"

#include "handshakes.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::connects;
using test::is_admitted;
using test::kClient;
using test::kGame;
using test::kNow;
using test::kServer;
using test::token_of;

struct Bench {
  SecretKey key = SecretKey::make();
  GateConfig config{.key = key, .game = kGame, .addresses = {kServer}};
  Gate gate{config};
  double now_s = 100.0;

  [[nodiscard]] ConnectToken token(std::uint64_t client = 1) const {
    ConnectGrant grant{.client_id = client, .expires_s = kNow + 30};
    grant.servers = {kServer};
    grant.user_data[0] = std::byte{42};
    return *issue_token(grant, key, kGame);
  }
  [[nodiscard]] std::optional<Bytes> ask(const SocketAddress& from, std::span<const std::byte> datagram,
                                         std::uint64_t unix_s = kNow) {
    return test::ask(gate, from, datagram, now_s, unix_s);
  }
  void talk(ClientHandshake& client, const SocketAddress& from) {
    test::talk(client, gate, from, now_s, kNow);
  }
};

TEST(Gate, ClientWithATokenGetsAWorkingSession) {
  Bench bench;
  ClientHandshake client(bench.token(), kGame);
  bench.talk(client, kClient);
  ASSERT_TRUE(client.session());
  Gate::Session* session = bench.gate.find(client.session()->number);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->grant.client_id, 1u);
  EXPECT_EQ(session->grant.user_data[0], std::byte{42});
  EXPECT_EQ(session->address, kClient);

  Sealer up(client.session()->keys.to_server, client.session()->number);
  Opener down(client.session()->keys.to_client);
  Bytes plain(20, std::byte{7}), datagram(plain.size() + kSealBytes), opened(datagram.size());
  (void)up.seal(Kind::alive, plain, datagram);
  EXPECT_TRUE(session->opener->open(datagram, opened));
  (void)session->sealer->seal(Kind::alive, plain, datagram);
  EXPECT_TRUE(down.open(datagram, opened));
}

TEST(Gate, HandshakeToleratesLossAndRepetition) {
  std::mt19937 random(4);
  for (int round = 0; round < 50; ++round) {
    Bench bench;
    ClientHandshake client(bench.token(), kGame);
    for (int i = 0; i < 3000 && !client.session(); ++i, bench.now_s += 0.01) {
      const auto message = client.to_send(bench.now_s);
      if (!message || random() % 2 == 0) continue;
      const auto answer = bench.ask(kClient, *message);
      if (answer && random() % 2 == 0) client.receive(*answer);
      if (answer && random() % 4 == 0) client.receive(*answer);
    }
    ASSERT_TRUE(client.session()) << round;
    EXPECT_EQ(bench.gate.sessions(), 1u);
  }
}

TEST(Gate, TokenIsAcceptedOnce) {
  Bench bench;
  const ConnectToken token = bench.token();
  ClientHandshake client(token, kGame), thief(token, kGame);
  bench.talk(client, kClient);
  bench.talk(thief, {0x05060708, 1});
  EXPECT_TRUE(client.session());
  EXPECT_FALSE(thief.session());
  EXPECT_EQ(bench.gate.counts().token_reused, 1u);
  EXPECT_EQ(bench.gate.sessions(), 1u);
}

// All answers were lost, and the client tries again from another socket. It is admitted once, with new keys.
TEST(Gate, ClientMayRetryAfterALostAnswer) {
  for (const bool at_once : {true, false}) {
    Bench bench;
    const ConnectToken token = bench.token();
    const SecretKey secret = SecretKey::make();
    ClientHandshake unlucky(token, kGame, secret), again(token, kGame, secret), third(token, kGame, secret);
    const auto cookie = bench.ask(kClient, *unlucky.to_send(bench.now_s));
    ASSERT_TRUE(cookie && unlucky.receive(*cookie));
    const auto lost = bench.ask(kClient, *unlucky.to_send(bench.now_s));
    ASSERT_TRUE(lost);
    bench.now_s += at_once ? 0.5 : 8.0;
    bench.gate.tidy(bench.now_s, kNow);
    bench.talk(again, {kClient.host, 1001});
    ASSERT_TRUE(again.session());
    EXPECT_FALSE(again.receive(*lost));
    EXPECT_EQ(bench.gate.sessions(), 1u);
    EXPECT_TRUE(bench.gate.bind(*bench.gate.find(again.session()->number)));
    bench.talk(third, {kClient.host, 1002});
    EXPECT_FALSE(third.session()) << "used up, because a connection was bound to it";
    EXPECT_EQ(bench.gate.counts().token_reused, 1u);
  }
}

// A client that presents its token a second time, from the same address and with the same secret, numbers its
// datagrams from 0 again. If it kept the keys of the first attempt, it would use each nonce twice.
TEST(Gate, SecondAttemptHasItsOwnKeys) {
  Bench bench;
  const ConnectToken token = bench.token();
  const SecretKey secret = SecretKey::make();
  ClientHandshake first(token, kGame, secret), second(token, kGame, secret);
  ASSERT_TRUE(first.receive(*bench.ask(kClient, *first.to_send(bench.now_s))));
  const auto accepted = bench.ask(kClient, *first.to_send(bench.now_s));
  ASSERT_TRUE(accepted && first.receive(*accepted));
  ASSERT_TRUE(second.receive(*bench.ask(kClient, *second.to_send(bench.now_s))));
  EXPECT_FALSE(second.receive(*accepted)) << "an attacker sent the first answer again";
  bench.talk(second, kClient);
  ASSERT_TRUE(second.session());
  EXPECT_EQ(bench.gate.sessions(), 1u);

  const auto sealed = [](const ClientHandshake& client) {
    Bytes datagram(20 + kSealBytes);
    Sealer sealer(client.session()->keys.to_server, 1);
    (void)sealer.seal(Kind::alive, Bytes(20), datagram);
    return datagram;
  };
  EXPECT_NE(sealed(first), sealed(second));
  EXPECT_NE(first.session()->keys.to_client.bytes(), second.session()->keys.to_client.bytes());
}

TEST(Gate, TokenIsAcceptedAtOneOfSeveralGates) {
  Bench bench;
  bench.config.used = std::make_shared<UsedTokens>();
  bench.gate = Gate(bench.config);
  const ConnectToken token = bench.token();
  ClientHandshake client(token, kGame), thief(token, kGame);
  bench.talk(client, kClient);
  ASSERT_TRUE(client.session());
  bench.gate = Gate(bench.config);
  bench.talk(thief, kClient);
  EXPECT_FALSE(thief.session());
}

TEST(Gate, CopiedResponseIsRefused) {
  Bench bench;
  ClientHandshake client(bench.token(), kGame);
  ASSERT_TRUE(client.receive(*bench.ask(kClient, *client.to_send(bench.now_s))));
  const auto sent = client.to_send(bench.now_s);
  const Bytes response(sent->begin(), sent->end());
  // The cookie is invalid from another address, and after its lifetime.
  EXPECT_FALSE(bench.ask({kClient.host, 1000}, response));
  EXPECT_FALSE(bench.ask({IpAddress(kClient.host.ipv4() + 1), kClient.port}, response));
  bench.now_s += 60.0;
  EXPECT_FALSE(bench.ask(kClient, response));
  EXPECT_EQ(bench.gate.counts().wrong_cookie, 3u);
  EXPECT_EQ(bench.gate.sessions(), 0u);
}

TEST(Gate, RefusesExpiredTokensAndTokensForOtherServers) {
  Bench bench;
  const auto joins = [&](const ConnectToken& token, std::uint64_t game = kGame) {
    ClientHandshake client(token, game);
    bench.talk(client, kClient);
    return client.session().has_value();
  };
  ConnectGrant grant{.client_id = 1, .expires_s = kNow + 30};
  grant.servers = {{kServer.host, 4001}};
  EXPECT_FALSE(joins(*issue_token(grant, bench.key, kGame)));  // a token for another server
  grant.servers = {{kServer.host, 4001}, kServer};
  EXPECT_TRUE(joins(*issue_token(grant, bench.key, kGame)));  // a token for two servers
  EXPECT_FALSE(joins(*issue_token(grant, SecretKey::make(), kGame)));
  EXPECT_FALSE(joins(*issue_token(grant, bench.key, kGame + 1)));
  EXPECT_FALSE(joins(*issue_token(grant, bench.key, kGame + 1), kGame + 1));
  grant.expires_s = kNow;
  EXPECT_FALSE(joins(*issue_token(grant, bench.key, kGame)));
  EXPECT_EQ(bench.gate.sessions(), 1u);
}

// A client with a genuine token that the server does not accept learns the reason, in a short answer that
// only the server can have made. Nobody else gets an answer.
TEST(Gate, GenuineTokenIsRefusedWithAReason) {
  Bench bench;
  const auto fault = [&](const ConnectToken& token, std::uint64_t game = kGame) {
    ClientHandshake client(token, game);
    bench.talk(client, kClient);
    EXPECT_FALSE(client.session());
    EXPECT_FALSE(client.refused() && client.to_send(bench.now_s + 10.0)) << "it has given up";
    return client.refused();
  };
  ConnectGrant grant{.client_id = 1, .expires_s = kNow, .servers = {kServer}};
  EXPECT_EQ(fault(*issue_token(grant, bench.key, kGame)), TokenFault::expired);
  EXPECT_EQ(bench.gate.refusal(), Refusal::wrong_token);
  grant.expires_s = kNow + 30;
  EXPECT_EQ(fault(*issue_token(grant, bench.key, kGame + 1), kGame + 1), TokenFault::other_game);
  EXPECT_EQ(fault(*issue_token(grant, bench.key, kGame), kGame + 1), TokenFault::other_game);
  EXPECT_EQ(bench.gate.refusal(), Refusal::wrong_game);
  EXPECT_EQ(bench.gate.counts().malformed, 0u);
  grant.servers = {{kServer.host, 4001}};
  EXPECT_EQ(fault(*issue_token(grant, bench.key, kGame)), TokenFault::other_server);
  const ConnectToken token = bench.token();
  ClientHandshake first(token, kGame);
  bench.talk(first, kClient);
  EXPECT_TRUE(first.session());
  EXPECT_EQ(fault(token), TokenFault::used);

  EXPECT_EQ(fault(*issue_token(grant, SecretKey::make(), kGame)), std::nullopt) << "forged";
  ConnectToken seen = bench.token(2);
  seen.expires_s = kNow - 1;
  EXPECT_EQ(fault(seen), std::nullopt) << "changed";
  seen = bench.token(3);
  seen.to_server = SecretKey::make();
  EXPECT_EQ(fault(seen, kGame + 1), std::nullopt) << "without the keys of the token";
}

TEST(Gate, RefusalIsValidForOneAttemptOnly) {
  Bench bench;
  ConnectGrant grant{.client_id = 1, .expires_s = kNow, .servers = {kServer}};
  const ConnectToken token = *issue_token(grant, bench.key, kGame);
  const SecretKey secret = SecretKey::make();
  const auto answer_to = [&](ClientHandshake& client) {
    EXPECT_TRUE(client.receive(*bench.ask(kClient, *client.to_send(bench.now_s))));
    return bench.ask(kClient, *client.to_send(bench.now_s)).value();
  };
  ClientHandshake client(token, kGame, secret), again(token, kGame, secret);
  const Bytes refused = answer_to(client), other = answer_to(again);
  ASSERT_EQ(refused.size(), Refused::kBytes);
  EXPECT_FALSE(client.receive(other));
  EXPECT_EQ(client.refusal(), Refusal::not_genuine);
  for (std::size_t i = 1; i < refused.size(); ++i) {
    Bytes changed = refused;
    changed[i] ^= std::byte{2};
    EXPECT_FALSE(client.receive(changed)) << i;
  }
  EXPECT_FALSE(client.refused());
  EXPECT_TRUE(client.receive(refused));
  EXPECT_EQ(client.refused(), TokenFault::expired);
}

TEST(Gate, RefusalsAreLimitedPerSecond) {
  Bench bench;
  ConnectGrant grant{.client_id = 1, .expires_s = kNow, .servers = {kServer}};
  ClientHandshake client(*issue_token(grant, bench.key, kGame), kGame);
  ASSERT_TRUE(client.receive(*bench.ask(kClient, *client.to_send(bench.now_s))));
  const auto sent = client.to_send(bench.now_s);
  const Bytes response(sent->begin(), sent->end());
  double answers = 0.0;
  for (int i = 0; i < 5000; ++i)
    answers += bench.ask(kClient, response) ? 1.0 : 0.0;
  EXPECT_EQ(answers, Gate::kRefusalsPerSecond);
  EXPECT_EQ(bench.gate.counts().wrong_token, 5000u);
}

// A late copy of an answer is not an error of anybody, and the log says so.
TEST(Gate, LateAnswersOfTheHandshakeAreRepetitions) {
  Bench bench;
  Guard server(bench.config), client(bench.token(3), kGame);
  std::vector<Bytes> answers;
  while (const auto message = client.to_send(bench.now_s)) {
    const auto arrival = server.arrive(kClient, *message, bench.now_s, kNow);
    ASSERT_EQ(arrival.what, Guard::Arrival::What::answer);
    answers.emplace_back(arrival.bytes.begin(), arrival.bytes.end());
    EXPECT_FALSE(client.arrive(kServer, answers.back(), bench.now_s, kNow).refusal);
  }
  ASSERT_EQ(answers.size(), 2u);
  for (const Bytes& late : answers)
    EXPECT_EQ(client.arrive(kServer, late, bench.now_s, kNow).refusal, Refusal::repeated);
  EXPECT_EQ(client.arrive(kServer, Bytes(50), bench.now_s, kNow).refusal, Refusal::malformed);
}

TEST(Gate, TicketLetsAClientReturn) {
  Bench bench;
  ClientHandshake client(bench.token(9), kGame);
  bench.talk(client, kClient);
  const Ticket& ticket = client.session()->ticket;
  // The server was restarted and knows nothing but the key.
  Bench anew;
  anew.gate = Gate(bench.config);
  ClientHandshake again(token_of(ticket), kGame);
  anew.talk(again, {0x0A0A0A0A, 7});
  ASSERT_TRUE(again.session());
  EXPECT_EQ(anew.gate.find(again.session()->number)->grant.client_id, 9u);
  EXPECT_NE(again.session()->keys.to_server.bytes(), client.session()->keys.to_server.bytes());
}

// The connection lasts longer than any ticket. At all times the client's newest ticket is valid, even if most
// tickets are lost.
TEST(Gate, ConnectedClientAlwaysHasAValidTicket) {
  for (const bool lossy : {false, true}) {
    Bench bench;
    Guard server(bench.config), client(bench.token(3), kGame);
    std::mt19937 random(11);
    std::uint64_t unix_s = kNow;
    std::size_t given = 0;
    ASSERT_TRUE(connects(client, server, kClient, bench.now_s));
    for (int i = 0; i < 5 * 3600; ++i, bench.now_s += 1.0, ++unix_s) {
      server.tidy(bench.now_s, unix_s, [&](const SocketAddress& to, std::span<const std::byte> datagram) {
        EXPECT_EQ(to, kClient);
        ++given;
        if (lossy && random() % 2 == 0) return;
        const auto arrival = client.arrive(kServer, datagram, bench.now_s, unix_s);
        EXPECT_EQ(arrival.what, Guard::Arrival::What::nothing);
        EXPECT_FALSE(arrival.refusal);
        EXPECT_EQ(client.arrive(kServer, datagram, bench.now_s, unix_s).refusal, Refusal::not_genuine);
      });
      ASSERT_GT(client.joined()->ticket.expires_s, unix_s + 60) << i;
    }
    EXPECT_GT(given, 50u);
    EXPECT_LT(given, 70u);
    const Ticket ticket = client.joined()->ticket;
    ClientHandshake again(token_of(ticket), kGame);
    for (int i = 0; i < 4 && !again.session(); ++i) {
      const auto message = again.to_send(bench.now_s);
      ASSERT_TRUE(message);
      const auto arrival = server.arrive({kClient.host, 7}, *message, bench.now_s, unix_s);
      ASSERT_EQ(arrival.what, Guard::Arrival::What::answer);
      (void)again.receive(arrival.bytes);
    }
    ASSERT_TRUE(again.session());
    EXPECT_EQ(server.find(again.session()->number)->grant.client_id, 3u);
  }
}

// Only connected clients receive tickets, and a client cannot send one.
TEST(Gate, OnlyServersSendTicketsAndOnlyToConnectedClients) {
  Bench bench;
  bench.config.ticket_s = 12.0;
  Guard server(bench.config), client(bench.token(3), kGame);
  ASSERT_TRUE(is_admitted(client, server, kClient, bench.now_s));
  server.tidy(bench.now_s + 4.0, kNow + 4000, [](const auto&, const auto&) { ADD_FAILURE(); });
  const std::uint64_t expires_s = client.joined()->ticket.expires_s;
  const auto forged = client.write(Kind::ticket, write(Ticket{}));
  EXPECT_EQ(server.arrive(kClient, forged, bench.now_s, kNow).refusal, Refusal::malformed);
  // A malformed ticket changes nothing, even if it comes from the server.
  const auto short_one = server.write(*server.find(client.joined()->number), Kind::ticket, Bytes(5));
  EXPECT_EQ(client.arrive(kServer, short_one, bench.now_s, kNow).refusal, Refusal::malformed);
  EXPECT_EQ(client.joined()->ticket.expires_s, expires_s);
}

TEST(Gate, SessionsWithoutAConnectionEnd) {
  Bench bench;
  ClientHandshake client(bench.token(1), kGame), bound(bench.token(2), kGame);
  bench.talk(client, kClient);
  bench.talk(bound, {kClient.host, 1});
  EXPECT_TRUE(bench.gate.bind(*bench.gate.find(bound.session()->number)));
  bench.gate.tidy(bench.now_s + bench.config.half_open_s + 0.1, kNow);
  EXPECT_EQ(bench.gate.find(client.session()->number), nullptr);
  ASSERT_NE(bench.gate.find(bound.session()->number), nullptr);
  bench.gate.release(bound.session()->number, bench.now_s + 50.0);
  bench.gate.tidy(bench.now_s + 60.0, kNow);
  EXPECT_EQ(bench.gate.sessions(), 0u);
}

TEST(Gate, SessionsPerHostAreLimited) {
  Bench bench;
  int joined = 0;
  for (std::uint16_t i = 0; i < 300; ++i) {
    ClientHandshake client(bench.token(i), kGame);
    bench.talk(client, {kClient.host, i});
    joined += client.session() ? 1 : 0;
  }
  EXPECT_EQ(joined, static_cast<int>(bench.config.most_sessions_per_host));
  EXPECT_GT(bench.gate.counts().over_limit, 200u);
  ClientHandshake other(bench.token(1000), kGame);
  bench.talk(other, {IpAddress(kClient.host.ipv4() + 1), 1});
  EXPECT_TRUE(other.session());  // other hosts are not affected
}

// A household has a whole /64, so every client could have an address of its own.
TEST(Gate, SessionsPerIpv6NetworkAreLimited) {
  constexpr std::uint64_t kNetwork = 0x2001'0db8'0000'0000;
  Bench bench;
  std::size_t joined = 0;
  for (std::uint16_t i = 0; i < 300; ++i) {
    ClientHandshake client(bench.token(i), kGame);
    bench.talk(client, {IpAddress(kNetwork, i), 1000});
    joined += client.session() ? 1 : 0;
  }
  EXPECT_EQ(joined, bench.config.most_sessions_per_host);
  ClientHandshake other(bench.token(1000), kGame);
  bench.talk(other, {IpAddress(kNetwork + 1, 1), 1000});
  EXPECT_TRUE(other.session()) << "other networks are not affected";
}

// Cookies prove one address, not its network.
TEST(Gate, CookieOfANeighbourIsRefused) {
  constexpr std::uint64_t kNetwork = 0x2001'0db8'0000'0000;
  Bench bench;
  ClientHandshake client(bench.token(1), kGame);
  const SocketAddress own{IpAddress(kNetwork, 1), 1000}, neighbour{IpAddress(kNetwork, 2), 1000};
  ASSERT_TRUE(client.receive(*bench.ask(own, *client.to_send(bench.now_s))));
  const auto sent = client.to_send(bench.now_s);
  const Bytes response(sent->begin(), sent->end());
  EXPECT_FALSE(bench.ask(neighbour, response));
  EXPECT_EQ(bench.gate.counts().wrong_cookie, 1u);
  EXPECT_TRUE(bench.ask(own, response));
}

// Sixteen admitted clients forge another client's address. They do not take that address's session slots.
TEST(Gate, ForgedSourceAddressesDoNotUseUpAnAddressesLimits) {
  Bench bench;
  bench.config.limits = {
      .datagrams_per_second = 100.0, .address_datagrams_per_second = 400.0, .burst_s = 1.0};
  Guard server(bench.config);
  const SocketAddress victim{0x0505, 1};
  const auto says = [&](Guard& client, const SocketAddress& from) {
    return server.arrive(from, client.write(Kind::datagram, Bytes(20)), bench.now_s, kNow);
  };
  std::vector<Guard> liars;
  for (std::uint32_t i = 0; i < 16; ++i) {
    liars.emplace_back(bench.token(i), kGame);
    const SocketAddress from{1000 + i / 8, static_cast<std::uint16_t>(i + 1)};
    ASSERT_TRUE(connects(liars.back(), server, from, bench.now_s));
    for (int k = 0; k < 50; ++k)
      EXPECT_FALSE(says(liars.back(), {victim.host, static_cast<std::uint16_t>(i + 50)}).moved);
    if (i == 7) bench.now_s += 1.0;
  }
  for (std::uint16_t i = 0; i < 4; ++i) {
    Guard honest(bench.token(100u + i), kGame);
    ASSERT_TRUE(connects(honest, server, {victim.host, i}, bench.now_s)) << i;
    for (int k = 0; k < 100; ++k)
      EXPECT_FALSE(says(honest, {victim.host, i}).refusal) << "a full share";
    EXPECT_EQ(says(honest, {victim.host, i}).refusal, Refusal::peer_limit);
  }
}

// Every datagram that a client seals counts against its limit, whatever its kind, valid or not.
TEST(Gate, AllSealedDatagramsCountAgainstTheClientsLimit) {
  for (const Kind kind :
       {Kind::datagram, Kind::ticket, Kind::probe, Kind::echo, Kind::alive, Kind::close, Kind::closed}) {
    Bench bench;
    bench.config.limits = {.datagrams_per_second = 100.0, .burst_s = 1.0};
    Guard server(bench.config), client(bench.token(), kGame);
    ASSERT_TRUE(connects(client, server, kClient, bench.now_s));
    int within = 0;
    for (int i = 0; i < 1000; ++i, bench.now_s += 0.001) {
      const auto sealed = client.write(kind, Bytes(static_cast<std::size_t>(i % 60)));
      within += server.arrive(kClient, sealed, bench.now_s, kNow).refusal == Refusal::peer_limit ? 0 : 1;
    }
    EXPECT_GE(within, 195) << static_cast<int>(kind);
    EXPECT_LE(within, 201) << static_cast<int>(kind);
  }
}

TEST(Gate, GarbageIsCountedAndNeverAnswered) {
  Bench bench;
  std::mt19937 random(7);
  ClientHandshake client(bench.token(), kGame);
  const auto message = client.to_send(bench.now_s);
  const Bytes request(message->begin(), message->end());
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random() % 900);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random());
    if (i % 2 == 0) {
      bytes = request;
      bytes[0] ^= static_cast<std::byte>(1 + random() % 255);  // kind
    }
    ASSERT_FALSE(bench.ask(kClient, bytes));
    ASSERT_FALSE(client.receive(bytes));
  }
  EXPECT_EQ(bench.gate.counts().malformed, 20'000u);
}

TEST(ClientHandshake, ForgedServerIsRefused) {
  Bench bench, liar;  // another key
  ClientHandshake client(bench.token(), kGame);
  const auto request = client.to_send(bench.now_s);
  ASSERT_TRUE(client.receive(*liar.ask(kClient, *request)));
  const auto response = client.to_send(bench.now_s);
  EXPECT_FALSE(liar.ask(kClient, *response));  // cannot open the token
  Accepted forged{.session = 1, .server = KeyExchange().public_key(), .ticket = {}};
  EXPECT_FALSE(client.receive(seal(forged, {SecretKey::make(), SecretKey::make(), SecretKey::make()})));
  forged.server = {};  // a point that gives the same secret for every key
  EXPECT_FALSE(client.receive(seal(forged, {SecretKey::make(), SecretKey::make(), SecretKey::make()})));
  EXPECT_FALSE(client.session());
}

}  // namespace
}  // namespace reckoner::secure
