// SPDX-License-Identifier: MIT
// What an admitted peer can make a transport store is bounded, and other peers are not affected.
#include "real_time.hpp"
#include "relay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::kTimeoutS;
using test::now_s;
using test::Relay;
using test::unix_s;

constexpr std::uint64_t kGame = 12;

class TransportLimit : public testing::Test {
 protected:
  SecretKey key = SecretKey::make();
  ListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}};
  End server;
  std::vector<std::unique_ptr<End>> clients;
  std::unique_ptr<Relay> relay;

  void listen() {
    config.security = ServerSecurity{.key = key, .game = kGame};
    auto listening = NetworkTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
    relay = std::make_unique<Relay>(server.transport->port());
  }
  End& join(std::uint16_t port) {
    ConnectGrant grant{.client_id = clients.size(), .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), server.transport->port()}};
    auto connecting =
        NetworkTransport::connect({.host = test::loopback(),
                                   .port = port,
                                   .security = ClientSecurity{*issue_token(grant, key, kGame), kGame}});
    EXPECT_TRUE(connecting);
    clients.push_back(std::make_unique<End>());
    clients.back()->transport = std::move(*connecting);
    const std::size_t before = server.connected.size();
    EXPECT_TRUE(
        until([&] { return !clients.back()->connected.empty() && server.connected.size() > before; }));
    return *clients.back();
  }
  bool until(const std::function<bool()>& done, double patience_s = kTimeoutS) {
    const auto turn = [this] {
      if (polls) {
        server.turn();
      } else {
        server.transport->service(0.0);
      }
      relay->turn();
      for (const auto& client : clients)
        client->turn();
    };
    return test::turn_until(turn, done, patience_s);
  }
  bool polls = true;  // whether the server's events are polled
};

// The game does not poll events. The transport then stops reading at its limit. Nothing is lost as long as
// the system's buffer has room.
TEST_F(TransportLimit, BoundsTheNumberOfUnpolledEvents) {
  config.limits.waiting_events = 50;
  listen();
  End& client = join(server.transport->port());
  polls = false;
  constexpr std::size_t kSent = 400;
  for (std::size_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Bytes(20)));
  (void)until([] { return false; }, 0.3);
  std::size_t waited = 0;
  while (server.transport->poll())
    ++waited;
  EXPECT_GE(waited, 50u);
  EXPECT_LE(waited, 50u + 256u) << "and what ENet reads at once";
  polls = true;
  EXPECT_TRUE(until([&] { return waited + server.received.size() == kSent; }));
}

// The limit also counts bytes, because large datagrams cost more than small ones. No peer is disconnected for
// this reason, and the remaining data arrives when the game polls again.
TEST_F(TransportLimit, BoundsTheBytesOfUnpolledEvents) {
  config.limits.waiting_event_bytes = 70'000;
  listen();
  End& client = join(server.transport->port());
  polls = false;
  constexpr std::size_t kAtOnce = 40, kSent = 200, kSize = 1000;
  for (std::size_t i = 0; i < kSent; ++i) {
    ASSERT_TRUE(client.transport->send(client.connected[0], Bytes(kSize)));
    if ((i + 1) % kAtOnce == 0) (void)until([] { return false; }, 0.05);
  }
  std::size_t waited = 0, bytes = 0;
  while (const auto event = server.transport->poll()) {
    bytes += event->payload.size();
    ++waited;
  }
  EXPECT_GE(bytes, 70'000u);
  EXPECT_LT(bytes, 70'000u + DatagramIntake::kMost * kSize) << "and what is read at once";
  polls = true;
  EXPECT_TRUE(until([&] { return waited + server.received.size() == kSent; }));
  EXPECT_TRUE(server.disconnected.empty());
}

// A silent peer is disconnected after the configured time, and not earlier.
TEST_F(TransportLimit, DisconnectsASilentPeerAfterTheConfiguredTime) {
  config.limits.silence_s = 2.0;
  listen();
  End& client = join(relay->port());
  EXPECT_FALSE(until([&] { return !server.disconnected.empty(); }, 3.0))
      << "an idle peer still answers pings";
  relay->drop_up = relay->drop_down = [](const Bytes&) { return true; };
  const double silent_s = now_s();
  EXPECT_TRUE(until([&] { return !server.disconnected.empty(); }));
  EXPECT_GT(now_s() - silent_s, 1.0);
  EXPECT_LT(now_s() - silent_s, 8.0);
  EXPECT_TRUE(client.disconnected.empty()) << "its own are the usual ten seconds";
}

TEST(TransportLimits, InvalidLimitsAreNamed) {
  const auto fault = [](auto spoil) {
    TransportLimits limits;
    spoil(limits);
    const auto found = find_invalid_setting(limits);
    return found ? found->message : std::string();
  };
  const double nan = std::nan("");
  const auto names = [](const std::string& text, const char* name) {
    return text.find(name) != std::string::npos;
  };
  EXPECT_EQ(fault([](TransportLimits&) {}), "");
  EXPECT_TRUE(names(fault([&](auto& l) { l.datagrams_per_second = nan; }), "datagrams_per_second"));
  EXPECT_TRUE(names(fault([](auto& l) { l.address_bytes_per_second = -1.0; }), "address_bytes_per_second"));
  EXPECT_TRUE(names(fault([&](auto& l) { l.burst_s = nan; }), "burst_s"));
  EXPECT_TRUE(names(fault([](auto& l) { l.silence_s = 0.0; }), "silence_s"));
  EXPECT_TRUE(names(fault([](auto& l) { l.waiting_events = 0; }), "waiting_events"));
  EXPECT_TRUE(names(fault([](auto& l) { l.waiting_event_bytes = 0; }), "waiting_event_bytes"));
  TransportLimits limits;
  limits.silence_s = 0.0;
  const auto refused =
      NetworkTransport::listen({.host = test::loopback(), .security = Insecure{}, .limits = limits});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(names(refused.error(), "silence_s"));
}

}  // namespace
}  // namespace reckoner
