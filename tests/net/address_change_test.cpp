// SPDX-License-Identifier: MIT
// Clients whose address really changes, and forged source addresses, over real sockets.
#include "net/src/secure/guard.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using secure::Guard;
using secure::Kind;
using test::Bytes;
using test::End;
using test::now_s;
using test::RawClient;
using test::unix_s;

constexpr double kFrameS = 1.0 / 60.0;

class AddressChange : public test::TokenServer<NetworkTransport> {
 protected:
  End& client = add_client();

  void listen(const TransportLimits& limits = {}) {
    ListenConfig config{
        .host = test::loopback(), .max_peers = 8, .security = ServerSecurity{.key = key, .game = kGame}};
    config.limits = limits;
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
    put_relay_in_front();
  }
  void join() {
    ASSERT_NO_FATAL_FAILURE(connect(client, relay->port(), ClientSecurity{token(), kGame}));
    ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
  }
  /// Both ends send in every picture, as a game does. Returns the longest time (s) during which the client
  /// received nothing.
  double play(double seconds, std::size_t server_bytes = 100) {
    const double begin_s = now_s();
    double next_s = begin_s, last_s = begin_s, longest_s = 0.0;
    std::size_t heard = client.received.size();
    (void)until(
        [&] {
          for (; now_s() >= next_s; next_s += kFrameS) {
            (void)client.transport->send(client.connected[0], Bytes(12));
            (void)server.transport->send(server.connected[0], Bytes(server_bytes));
          }
          if (client.received.size() > heard) {
            heard = client.received.size();
            longest_s = std::max(longest_s, now_s() - last_s);
            last_s = now_s();
          }
          return false;
        },
        seconds);
    return std::max(longest_s, now_s() - last_s);
  }
  static Bytes numbered(int number) { return Bytes(40, static_cast<std::byte>(number)); }
  /// How often the numbered datagram has arrived.
  static std::ptrdiff_t count(const End& end, int number) {
    return std::ranges::count(end.received, numbered(number));
  }
};

// A router assigns the client a new port again and again. The session continues. What the client sends is not
// lost; what the server sends is, until the client's next datagram and the answer to the probe.
TEST_F(AddressChange, LosesOnlyWhatIsInFlightAndTakesOneRoundTrip) {
  listen();
  join();
  double longest_s = 0.0;
  for (int i = 0; i < 10; ++i) {
    relay->rebind();
    (void)client.transport->send(client.connected[0], numbered(i));
    longest_s = std::max(longest_s, play(0.5));
    (void)server.transport->send(server.connected[0], numbered(i));
    ASSERT_TRUE(until([&] { return count(client, i) == 1 && count(server, i) == 1; })) << i;
  }
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(count(client, i) == 1 && count(server, i) == 1) << i;
  EXPECT_EQ(server.connected.size(), 1u);
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_TRUE(client.disconnected.empty());
  EXPECT_EQ(server.transport->stats().address_changes, 10u);
  EXPECT_LT(longest_s, 1.0) << "two frames; path_check_test.cpp measures it in virtual time";
}

// The attack: one copy of a genuine datagram with a forged source address, and nothing else.
TEST_F(AddressChange, OneForgedDatagramDoesNotFloodTheVictim) {
  listen();
  join();
  RawClient victim(server.transport->port(), test::other_loopback(0x4D));
  relay->drop_up = [&](const Bytes& bytes) {
    if (victim.sent > 0) return true;  // afterwards the client sends nothing
    victim.send(bytes);
    return true;
  };
  (void)play(2.0, 1000);
  (void)victim.receive_all();
  EXPECT_GT(victim.sent, 0u);
  EXPECT_LE(victim.received, victim.sent);
  EXPECT_EQ(server.transport->stats().address_changes, 0u);
}

// From now on, all of the client's datagrams arrive from the victim's address.
TEST_F(AddressChange, ForgedDatagramsSendTheVictimLessThanTheyCost) {
  listen();
  join();
  RawClient victim(server.transport->port(), test::other_loopback(0x4D));
  relay->drop_up = [&](const Bytes& bytes) {
    victim.send(bytes);
    return true;
  };
  const double silence_s = play(3.0, 1000);
  (void)victim.receive_all();
  EXPECT_GT(victim.sent, 3000u);
  EXPECT_LE(victim.received, victim.sent / 4);
  EXPECT_GE(server.received.size(), 150u) << "the client's datagrams are still accepted";
  EXPECT_LT(silence_s, 1.0) << "the server still sends to the old address";
  EXPECT_EQ(server.transport->stats().address_changes, 0u);
}

// The attacker copies each datagram and sends the copy from another address before the original arrives.
TEST_F(AddressChange, FasterCopiesDoNotMoveTheSession) {
  listen();
  join();
  RawClient attacker(server.transport->port(), test::other_loopback(0x4E));
  relay->drop_up = [&](const Bytes& bytes) {
    attacker.send(bytes);
    return false;
  };
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds; ++i) {
    (void)server.transport->send(server.connected[0], numbered(i));
    EXPECT_LT(play(1.0), 0.9);
    EXPECT_EQ(count(client, i), 1);
  }
  (void)attacker.receive_all();
  EXPECT_LE(attacker.received, attacker.sent / 4);
  EXPECT_EQ(server.transport->stats().address_changes, 0u);
  EXPECT_GT(server.transport->stats().refusals[Refusal::not_genuine], 100u)
      << "the client's own datagrams arrived second";
}

// The client has a new address. An attacker delays the server's probe and sends it to the client from
// another address. The probe is genuine, but the client still answers to the server.
TEST_F(AddressChange, EchoGoesToTheServerWhereverTheProbeCameFrom) {
  listen();
  join();
  test::UdpSocket elsewhere(test::other_loopback(0x4F));
  const auto is = [](Kind kind) {
    return [kind](const Bytes& bytes) { return bytes[0] == static_cast<std::byte>(kind); };
  };
  int asked = 0;
  relay->drop_down = [&](const Bytes& bytes) {
    if (!is(Kind::probe)(bytes)) return false;
    EXPECT_TRUE(elsewhere.send(relay->client(), bytes));
    ++asked;
    return true;
  };
  relay->rebind();
  (void)client.transport->send(client.connected[0], Bytes(12));
  EXPECT_TRUE(until([&] { return server.transport->stats().address_changes == 1; }));
  EXPECT_GT(asked, 0);
  EXPECT_TRUE(std::any_of(relay->up.begin(), relay->up.end(), is(Kind::echo)));
  EXPECT_FALSE(elsewhere.receive());
}

// The dialer's transport answers the probes. The game does nothing.
TEST_F(AddressChange, IsFollowedForADialersConnection) {
  listen();
  NetworkDialer dialer({.host = test::loopback(),
                        .port = relay->port(),
                        .security = ClientSecurity{token(), kGame},
                        .version = 5});
  ASSERT_TRUE(dialer.dial());
  PeerId there;
  std::size_t heard = 0;
  double next_s = now_s();
  const auto plays = [&] {
    dialer.transport()->service(0.0);
    while (const auto event = dialer.transport()->poll()) {
      if (event->kind == TransportEvent::Kind::connected) there = event->peer;
      heard += event->kind == TransportEvent::Kind::received ? 1 : 0;
    }
    for (; now_s() >= next_s; next_s += kFrameS) {
      if (there) (void)dialer.transport()->send(there, Bytes(12));
      if (!server.connected.empty()) (void)server.transport->send(server.connected[0], Bytes(50));
    }
  };
  const auto playing_until = [&](const std::function<bool()>& done) {
    return until([&] {
      plays();
      return done();
    });
  };
  ASSERT_TRUE(playing_until([&] { return heard > 5; }));
  relay->rebind();
  ASSERT_TRUE(playing_until([&] { return server.transport->stats().address_changes == 1; }));
  heard = 0;
  EXPECT_TRUE(playing_until([&] { return heard > 5; }));
  EXPECT_EQ(server.connected.size(), 1u);
}

// Everything that a client sends in its session counts against its traffic limit, also signs of life.
TEST_F(AddressChange, SignsOfLifeCountAgainstTheSendersLimit) {
  listen({.datagrams_per_second = 100.0, .address_datagrams_per_second = 100.0, .burst_s = 0.1});
  RawClient flooder(server.transport->port());
  Guard guard(token(), kGame);
  ASSERT_TRUE(until([&] {
    if (const auto message = guard.to_send(now_s())) flooder.send(*message);
    for (const Bytes& bytes : flooder.receive_all())
      (void)guard.arrive({}, bytes, now_s(), unix_s());
    return guard.joined() != nullptr;
  }));
  const RefusalCounts before = server.transport->stats().refusals;
  std::size_t sent = 0;
  const double begin_s = now_s();
  (void)until(
      [&] {
        for (int i = 0; i < 20; ++i, ++sent)
          flooder.send(guard.write(Kind::alive, {}));
        (void)flooder.receive_all();
        return false;
      },
      1.0);
  const double lasted_s = now_s() - begin_s;
  (void)until([] { return false; }, 0.2);
  const RefusalCounts after = server.transport->stats().refusals;
  const std::uint64_t refused = after[Refusal::peer_limit] - before[Refusal::peer_limit];
  ASSERT_GT(sent, 1000u);
  EXPECT_GE(static_cast<double>(refused), static_cast<double>(sent) - 100.0 * (lasted_s + 0.5) - 20.0);
}

}  // namespace
}  // namespace reckoner
