// SPDX-License-Identifier: MIT
// Sealed connections over real sockets, and attacks on them.
#include "net/src/messages/messages.hpp"
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/seal.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::now_s;

class SecureTransport : public test::TokenServer<NetworkTransport> {
 protected:
  void SetUp() override {
    ListenConfig config{
        .host = test::loopback(), .max_peers = 8, .security = ServerSecurity{.key = key, .game = kGame}};
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
    put_relay_in_front();
  }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant with_data = grant(client_id);
    with_data.user_data[3] = std::byte{33};
    return *issue_token(with_data, key, kGame);
  }
};

// The key is right, but the token names other servers. Without further settings, a server accepts tokens that
// name the address it listens on.
TEST_F(SecureTransport, TokensForOtherServersAreRefusedUnlessAnyIsAllowed) {
  const auto gets_in = [&](ServerSecurity security, const SocketAddress& named) {
    security.key = key;
    security.game = kGame;
    auto listening =
        NetworkTransport::listen({.host = test::loopback(), .max_peers = 8, .security = security});
    if (!listening) return false;
    server = {};
    server.transport = std::move(*listening);
    clients.clear();
    ConnectGrant elsewhere = grant(1);
    elsewhere.servers = {{named.host, named.port != 0 ? named.port : port()}};
    End& client = join(*issue_token(elsewhere, key, kGame), port());
    return until([&] { return !client.connected.empty() || server.transport->stats().refused > 0; }) &&
           !client.connected.empty();
  };
  const SocketAddress here{test::loopback_ip(), 0}, elsewhere{0x0A090909, 1},
      other_port{test::loopback_ip(), 1};
  EXPECT_TRUE(gets_in({.key = key}, here));
  EXPECT_FALSE(gets_in({.key = key}, elsewhere));
  EXPECT_EQ(server.transport->stats().refusals[Refusal::wrong_token], server.transport->stats().refused);
  EXPECT_FALSE(gets_in({.key = key}, other_port));
  EXPECT_TRUE(gets_in({.key = key, .any_server = true}, elsewhere));
  EXPECT_TRUE(gets_in({.key = key, .addresses = {elsewhere}}, elsewhere));
  EXPECT_FALSE(gets_in({.key = key, .addresses = {elsewhere}}, here));
  EXPECT_TRUE(gets_in({.key = key, .addresses = {elsewhere, here}}, here)) << "port 0: the one in use";
}

// A client with a genuine token that is not accepted does not wait for an answer in vain.
TEST_F(SecureTransport, ClientLearnsAtOnceWhyItsTokenIsRefused) {
  ConnectGrant expired = grant(1), elsewhere = grant(2);
  expired.expires_s = 1;
  elsewhere.servers = {{0x0A090909, 1}};
  const ConnectToken used = token(3);
  ASSERT_TRUE(until([&, first = &join(used, port())] { return !first->connected.empty(); }));
  const struct {
    ClientSecurity security;
    secure::TokenFault fault;
  } cases[] = {{{*issue_token(expired, key, kGame), kGame}, secure::TokenFault::expired},
               {{*issue_token(elsewhere, key, kGame), kGame}, secure::TokenFault::other_server},
               {{used, kGame}, secure::TokenFault::used},
               {{token(4), kGame + 1}, secure::TokenFault::other_game}};
  for (const auto& one : cases) {
    End& client = add_client();
    connect(client, port(), one.security);
    const double begin_s = now_s();
    ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
    EXPECT_LT(now_s() - begin_s, 1.0) << "before, 5 s";
    const EndCode code = unpack_end_code(client.reasons.back());
    EXPECT_EQ(code.reason, EndReason::token);
    EXPECT_EQ(code.detail, static_cast<std::uint32_t>(one.fault));
    EXPECT_EQ(describe(code).find("does not accept"), std::string::npos) << describe(code);
  }
}

// The server shares no key with the client and gives no answer that a stranger could use. But it has answered
// the client's requests, so the client knows that it is there.
TEST_F(SecureTransport, ClientInfersAtOnceThatTheServerHasAnotherKey) {
  for (const bool changed : {false, true}) {
    ConnectToken unreadable = changed ? token(1) : *issue_token(grant(1), SecretKey::make(), kGame);
    if (changed) unreadable.sealed[100] ^= std::byte{1};
    const std::uint64_t answers = server.transport->stats().challenges;
    End& client = join(unreadable, port());
    const double begin_s = now_s();
    ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
    EXPECT_LT(now_s() - begin_s, 2.5) << "before, 5 s";
    const EndCode code = unpack_end_code(client.reasons.back());
    EXPECT_EQ(code.reason, EndReason::token);
    EXPECT_NE(describe(code).find("key"), std::string::npos) << describe(code);
    EXPECT_EQ(server.transport->stats().datagrams_sent, server.transport->stats().challenges);
    EXPECT_LE(server.transport->stats().challenges - answers, 3u);
  }
}

// A returning client's ticket shows that the server had the key. So the client goes on asking, and learns at
// the end of the attempt that the server was there.
TEST_F(SecureTransport, ReturningClientAsksForTheWholeAttempt) {
  End& first = join(token(5), port());
  ASSERT_TRUE(until([&] { return !first.connected.empty(); }));
  const ConnectToken ticket = *first.transport->ticket();
  clients.clear();
  ListenConfig config{
      .host = test::loopback(),
      .max_peers = 8,
      .security = ServerSecurity{.key = SecretKey::make(), .game = kGame, .any_server = true}};
  ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
  const End& again = join(ticket, port());
  EXPECT_FALSE(until([&] { return !again.disconnected.empty(); }, 3.0));
  ASSERT_TRUE(until([&] { return !again.disconnected.empty(); }));
  const EndCode code = unpack_end_code(again.reasons.back());
  EXPECT_EQ(code.reason, EndReason::token);
  EXPECT_NE(describe(code).find("key"), std::string::npos) << describe(code);
}

// The challenges of one pass leave together.
TEST_F(SecureTransport, ManyRequestsAreAnsweredInOnePass) {
  constexpr std::size_t kRequests = 100;  // several batches
  test::RawClient somebody(port());
  secure::ClientHandshake handshake(token(1), kGame);
  const Bytes request = [&] {
    const auto message = handshake.to_send(now_s());
    return Bytes(message->begin(), message->end());
  }();
  for (std::size_t i = 0; i < kRequests; ++i)
    somebody.send(request);
  server.turn();
  EXPECT_EQ(somebody.receive_all().size(), kRequests);
  EXPECT_EQ(server.transport->stats().challenges, kRequests);
  EXPECT_GE(server.transport->stats().datagrams_sent, kRequests);
}

TEST(ListenConfig, ReportsMissingAddressesAndInvalidSettings) {
  const SecretKey key = SecretKey::make();
  const auto fault = [](const ServerSecurity& security, const std::string& host) {
    const auto listening = NetworkTransport::listen({.host = host, .security = security});
    return listening ? std::string() : listening.error();
  };
  EXPECT_EQ(fault({.key = key}, "127.0.0.1"), "");
  for (const char* everywhere : {"", "0.0.0.0"}) {
    EXPECT_NE(fault({.key = key}, everywhere).find("every address"), std::string::npos);
    EXPECT_EQ(fault({.key = key, .any_server = true}, everywhere), "");
    EXPECT_EQ(fault({.key = key, .addresses = {{1, 1}}}, everywhere), "");
  }
  EXPECT_NE(fault({.key = key, .addresses = {{1, 1}}, .any_server = true}, ""), "");
  for (const char* nobody : {"0.0.0.0", "::", "ff02::1", "224.0.0.1", "255.255.255.255"}) {
    const std::string why = fault({.key = key, .addresses = {{parse_host(nobody)->host, 0}}}, "127.0.0.1");
    EXPECT_NE(why.find(nobody), std::string::npos) << why;
  }
  EXPECT_NE(fault({.key = SecretKey{}}, "127.0.0.1").find("key"), std::string::npos);
  EXPECT_NE(fault({.key = key, .ticket_s = 0.0}, "127.0.0.1").find("ticket_s"), std::string::npos);
  EXPECT_NE(fault({.key = key, .half_open_s = std::nan("")}, "127.0.0.1").find("half_open_s"),
            std::string::npos);
  EXPECT_NE(fault({.key = key, .peers_per_address = 0}, "127.0.0.1").find("peers_per_address"),
            std::string::npos);
}

TEST_F(SecureTransport, DatagramsTravelInBothDirectionsWithAToken) {
  End& client = join(token(77), relay->port());
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
  const PeerId there = client.connected[0], here = server.connected[0];
  ASSERT_TRUE(server.transport->identity(here));
  EXPECT_EQ(server.transport->identity(here)->client_id, 77u);
  EXPECT_EQ(server.transport->identity(here)->user_data[3], std::byte{33});
  EXPECT_TRUE(client.transport->ticket());
  const Bytes full(client.transport->max_datagram_bytes(there), std::byte{8});
  EXPECT_EQ(full.size(), kMaxDatagramBytes);
  for (auto& [end, peer] : {std::pair{&client, there}, std::pair{&server, here}}) {
    EXPECT_TRUE(end->transport->send(peer, full));
  }
  ASSERT_TRUE(until([&] { return client.received.size() == 1 && server.received.size() == 1; }));
  EXPECT_EQ(client.received[0], full);
  EXPECT_EQ(server.received[0], full);
  for (const auto* direction : {&relay->up, &relay->down}) {
    for (const Bytes& datagram : *direction) {
      EXPECT_GE(std::to_integer<int>(datagram[0]), 0xA1);  // no plain datagrams
      EXPECT_LE(std::to_integer<int>(datagram[0]), 0xAD);
      EXPECT_LE(datagram.size(), 1252u);
    }
  }
  client.transport->disconnect(there, 3);
  EXPECT_TRUE(until([&] { return !server.disconnected.empty() && !client.disconnected.empty(); }));
}

TEST_F(SecureTransport, RefusesClientsWithoutAValidToken) {
  ConnectToken forged = token(1);
  forged.sealed[100] ^= std::byte{1};
  End& with_forged = join(forged, relay->port());
  ASSERT_NO_FATAL_FAILURE(connect(add_client(), port(), Insecure{}));
  EXPECT_FALSE(until([&] { return !server.connected.empty() || !with_forged.connected.empty(); }, 1.0));
  EXPECT_GT(server.transport->stats().refused, 0u);
}

TEST_F(SecureTransport, ClientReturnsWithItsTicket) {
  End& first = join(token(5), server.transport->port());
  ASSERT_TRUE(until([&] { return !first.connected.empty(); }));
  const ConnectToken ticket = *first.transport->ticket();
  first.transport.reset();
  ASSERT_TRUE(until([&] { return !server.disconnected.empty(); }));
  End& again = join(ticket, server.transport->port());
  ASSERT_TRUE(until([&] { return !again.connected.empty() && server.connected.size() == 2; }));
  EXPECT_EQ(server.transport->identity(server.connected[1])->client_id, 5u);
}

// The machine lost its network and has a new one before the server notices. The server reports the older
// connection as lost, and its session can resume over the newer one.
TEST_F(SecureTransport, ReturningClientReplacesItsOlderConnection) {
  End& first = join(token(5), server.transport->port());
  ASSERT_TRUE(until([&] { return !first.connected.empty() && !server.connected.empty(); }));
  const ConnectToken ticket = *first.transport->ticket();
  End& again = join(ticket, server.transport->port());
  ASSERT_TRUE(until([&] { return server.connected.size() == 2 && !first.disconnected.empty(); }));
  EXPECT_EQ(server.disconnected, std::vector<PeerId>{server.connected[0]});
  EXPECT_EQ(unpack_end_code(server.reasons[0]).reason, EndReason::none);
  EXPECT_EQ(unpack_end_code(first.reasons[0]).reason, EndReason::replaced);
  again.transport->send(again.connected[0], Bytes(3, std::byte{1}));
  EXPECT_TRUE(until([&] { return server.received.size() == 1; }));
  EXPECT_EQ(server.transport->identity(server.connected[1])->client_id, 5u);
}

// All slots are in use, one of them by a crashed process. Its player logs in again and does not have to wait.
TEST_F(SecureTransport, NewerTokenReplacesTheClientsOlderConnection) {
  for (std::uint64_t i = 0; i < 8; ++i)
    join(token(i), server.transport->port());
  ASSERT_TRUE(until([&] { return server.connected.size() == 8; }));
  End& again = join(token(3), server.transport->port());
  ASSERT_TRUE(until([&] { return server.connected.size() == 9 && !again.connected.empty(); }, 3.0));
  ASSERT_EQ(server.disconnected.size(), 1u);
  EXPECT_EQ(unpack_end_code(server.reasons[0]).reason, EndReason::replaced);
  ASSERT_TRUE(until([&] { return !clients[3]->disconnected.empty(); }));
  EXPECT_EQ(unpack_end_code(clients[3]->reasons[0]).reason, EndReason::replaced);
  // The older ticket is invalid now, and no other client was disturbed.
  End& older = join(*clients[3]->transport->ticket(), server.transport->port());
  EXPECT_FALSE(until([&] { return !older.connected.empty() || server.disconnected.size() > 1; }, 1.0));
  EXPECT_GT(server.transport->stats().refusals[Refusal::token_reused], 0u);
}

// An attacker on the route can delay and repeat datagrams, but can neither change nor create them.
TEST_F(SecureTransport, ForgedOrRepeatedDatagramsAreRefused) {
  End& client = join(token(1), relay->port());
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
  for (int i = 0; i < 20; ++i)
    client.transport->send(client.connected[0], Bytes(30, static_cast<std::byte>(i)));
  ASSERT_TRUE(until([&] { return server.received.size() == 20; }));
  std::mt19937 random(1);
  const auto copies = relay->up;
  const auto refused = server.transport->stats().refused;
  for (const Bytes& datagram : copies) {
    relay->send_up(datagram);
    for (int i = 0; i < 20; ++i) {
      Bytes forged = datagram;
      forged[random() % forged.size()] ^= static_cast<std::byte>(1u << (random() % 8));
      relay->send_up(forged);
    }
  }
  for (int i = 0; i < 200; ++i)  // plain ENet: a disconnect of every possible peer
    relay->send_up({std::byte{0}, static_cast<std::byte>(i % 8), std::byte{0x04}, std::byte{0xFF},
                    std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}});
  EXPECT_FALSE(until([&] { return !server.disconnected.empty() || server.received.size() != 20; }, 0.5));
  EXPECT_GT(server.transport->stats().refused, refused + 200);
  client.transport->send(client.connected[0], Bytes(3, std::byte{1}));
  EXPECT_TRUE(until([&] { return server.received.size() == 21; }));
}

// A router assigns the client another port during the connection. The session continues.
TEST_F(SecureTransport, SessionSurvivesAnAddressChange) {
  End& client = join(token(1), relay->port());
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
  relay->rebind();
  client.transport->send(client.connected[0], Bytes(10, std::byte{1}));
  ASSERT_TRUE(until([&] { return server.received.size() == 1; }));
  ASSERT_TRUE(until([&] { return server.transport->stats().address_changes == 1; }));
  server.transport->send(server.connected[0], Bytes(5, std::byte{3}));
  ASSERT_TRUE(until([&] { return client.received.size() == 1; }));
  relay->rebind();
  client.transport->send(client.connected[0], Bytes(6, std::byte{4}));
  ASSERT_TRUE(until([&] { return server.received.size() == 2; }));
  EXPECT_EQ(server.connected.size(), 1u);
  EXPECT_TRUE(server.disconnected.empty());
}

// The client asks from one address, and again from another one, before the server's answer arrives.
TEST_F(SecureTransport, RepeatedRequestsFromSeveralAddressesGiveOneConnection) {
  End& client = join(token(1), relay->port());
  bool moved = false;
  relay->drop_down = [&](const Bytes& bytes) {
    const bool answer = bytes[0] == static_cast<std::byte>(secure::Kind::alive);
    if (answer && !moved) relay->rebind();
    return answer && !std::exchange(moved, true);
  };
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
  EXPECT_TRUE(moved);
  EXPECT_FALSE(until([&] { return server.connected.size() > 1 || !server.disconnected.empty(); }, 4.0));
}

// Datagrams beyond the flooder's limit are dropped, and no others.
TEST_F(SecureTransport, FlooderIsLimitedAndOthersAreNotAffected) {
  ListenConfig config{
      .host = test::loopback(), .max_peers = 8, .security = ServerSecurity{.key = key, .game = kGame}};
  config.limits.datagrams_per_second = 200.0;
  config.limits.burst_s = 0.5;
  ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
  End& flooder = join(token(1), port());
  End& honest = join(token(2), port());
  ASSERT_TRUE(until([&] { return !flooder.connected.empty() && !honest.connected.empty(); }));
  const Bytes flood(50, std::byte{1}), good(20, std::byte{2});
  std::size_t sent = 0, flooded = 0;
  const double begin_s = now_s();
  double next_s = begin_s;
  // Two seconds, and longer on a machine that is too slow to send a flood in that time.
  ASSERT_TRUE(until(
      [&] {
        for (int i = 0; i < 20; ++i, ++flooded)
          (void)flooder.transport->send(flooder.connected[0], flood);
        for (; now_s() >= next_s; next_s += 1.0 / 60.0, ++sent)
          (void)honest.transport->send(honest.connected[0], good);
        return flooded > 5000 && now_s() - begin_s > 2.0;
      },
      15.0));
  const double lasted_s = now_s() - begin_s;
  (void)until([] { return false; }, 0.3);
  const auto of = [&](const Bytes& what) {
    return static_cast<std::size_t>(std::count(server.received.begin(), server.received.end(), what));
  };
  EXPECT_LE(static_cast<double>(of(flood)), 200.0 * (lasted_s + 0.6) + 100.0);
  EXPECT_EQ(of(good), sent);
  EXPECT_GT(server.transport->stats().refusals[Refusal::peer_limit], 1000u);
  EXPECT_TRUE(server.disconnected.empty());
}

}  // namespace
}  // namespace reckoner
