// SPDX-License-Identifier: MIT
// What an admitted peer can make a transport store is bounded, and other peers are not affected.
#include "real_time.hpp"
#include "relay.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::kTimeoutS;
using test::now_s;
using test::Relay;
using test::unix_s;

constexpr std::uint64_t kGame = 12;

// The bytes that ENet has allocated for each end. Everything runs in one thread, so an allocation counts for
// the end whose turn it is.
struct AllocatedBytes {
  std::size_t bytes[2] = {0, 0};
  std::size_t whose = 0;
} taken;
struct Head {
  std::size_t bytes, whose;
};
static_assert(sizeof(Head) % alignof(std::max_align_t) == 0);

void* take_memory(std::size_t bytes) {
  auto* const head = static_cast<Head*>(std::malloc(sizeof(Head) + bytes));
  if (head == nullptr) return nullptr;
  *head = {bytes, taken.whose};
  taken.bytes[taken.whose] += bytes;
  return head + 1;
}
void give_back(void* memory) {
  if (memory == nullptr) return;
  Head* const head = static_cast<Head*>(memory) - 1;
  taken.bytes[head->whose] -= head->bytes;
  std::free(head);
}

class TransportLimit : public testing::Test {
 protected:
  SecretKey key = SecretKey::make();
  EnetListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}};
  End server;
  std::vector<std::unique_ptr<End>> clients;
  std::unique_ptr<Relay> relay;

  ~TransportLimit() override {
    server.transport.reset();
    clients.clear();
    EXPECT_TRUE(set_enet_allocator({std::malloc, std::free}));
  }
  void listen() {
    ASSERT_TRUE(set_enet_allocator({take_memory, give_back}));
    config.security = ServerSecurity{.key = key, .game = kGame};
    auto listening = EnetTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
    relay = std::make_unique<Relay>(server.transport->port());
  }
  End& join(std::uint16_t port) {
    ConnectGrant grant{.client_id = clients.size(), .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), server.transport->port()}};
    auto connecting = EnetTransport::connect(test::loopback(), port, 5,
                                             ClientSecurity{*issue_token(grant, key, kGame), kGame});
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
      taken.whose = 1;
      if (polls) {
        server.turn();
      } else {
        server.transport->service(0.0);
      }
      taken.whose = 0;
      relay->turn();
      for (const auto& client : clients)
        client->turn();
    };
    return test::turn_until(turn, done, patience_s);
  }
  bool polls = true;  // whether the server's events are polled
};

// A packet stays missing, and later ones wait for it, but only up to the limit. After that even the missing
// packet could not be accepted, so the peer is disconnected. It may reconnect, and other peers are not
// affected.
TEST_F(TransportLimit, BoundsPacketsWaitingForALostOne) {
  config.limits.waiting_bytes = 16 * 1024;
  listen();
  End& client = join(relay->port());
  End& honest = join(server.transport->port());
  const std::size_t before = taken.bytes[1];
  relay->drop_up = [](const Bytes& bytes) { return bytes.size() > 900 && bytes.size() < 1000; };
  ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, Bytes(900)));
  for (std::size_t i = 1; i < 200; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, Bytes(1000)));
  std::size_t most = 0, accepted = 0;
  EXPECT_TRUE(until([&] {
    accepted += honest.transport->send(honest.connected[0], Channel::state, Bytes(20)) ? 1 : 0;
    most = std::max(most, taken.bytes[1]);
    return !server.disconnected.empty();
  }));
  EXPECT_GT(most, before + 8u * 1024) << "some did wait";
  EXPECT_LT(most, before + 16u * 1024 + 8u * 1024) << "with what ENet adds to each";
  EXPECT_TRUE(server.control.empty());
  EXPECT_EQ(server.disconnected, std::vector<PeerId>{server.connected[0]});
  EXPECT_EQ(server.transport->stats().refusals[Refusal::peer_limit], 1u);
  EXPECT_LT(taken.bytes[1], before + 8u * 1024) << "it was given back";
  EXPECT_TRUE(until([&] { return server.state.size() == accepted; }));

  relay->drop_up = nullptr;
  End& again = join(relay->port());
  ASSERT_TRUE(again.transport->send(again.connected[0], Channel::control, Bytes(900)));
  EXPECT_TRUE(until([&] { return server.control.size() == 1; }));
}

// As many packets as an honest peer can have in flight wait and are then accepted in order. No peer is
// disconnected.
TEST_F(TransportLimit, HonestPeerStaysBelowTheWaitingLimit) {
  listen();
  End& client = join(relay->port());
  relay->drop_up = [](const Bytes& bytes) { return bytes.size() > 900 && bytes.size() < 1000; };
  ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, Bytes(900)));
  for (std::size_t i = 1; i < 200; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, Bytes(1000)));
  EXPECT_FALSE(until([&] { return !server.control.empty() || !server.disconnected.empty(); }, 1.0));
  relay->drop_up = nullptr;
  EXPECT_TRUE(until([&] { return server.control.size() == 200; }));
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_EQ(server.transport->stats().refusals.total(), 0u);
}

// The peer is alive but acknowledges nothing. It is disconnected, and the data queued for it is released.
TEST_F(TransportLimit, BoundsUnacknowledgedData) {
  config.limits.backlog_bytes = 200'000;
  listen();
  End& deaf = join(relay->port());
  End& honest = join(server.transport->port());
  const PeerId to_deaf = server.connected[0], to_honest = server.connected[1];
  const std::size_t before = taken.bytes[1];
  relay->drop_down = [](const Bytes& bytes) { return bytes.size() > 500; };
  std::size_t sent = 0, most = 0, accepted = 0;
  taken.whose = 1;
  while (server.disconnected.empty() && sent < 1000) {
    for (int i = 0; i < 10; ++i) {
      taken.whose = 1;
      sent += server.transport->send(to_deaf, Channel::control, Bytes(1000)) ? 1 : 0;
    }
    accepted += server.transport->send(to_honest, Channel::control, Bytes(40)) ? 1 : 0;
    most = std::max(most, taken.bytes[1] - before);
    (void)until([] { return false; }, 0.002);
  }
  EXPECT_EQ(sent, 200u);
  EXPECT_LT(most, 2u * 200'000);
  EXPECT_EQ(server.disconnected, std::vector<PeerId>{to_deaf});
  EXPECT_TRUE(until([&] { return honest.control.size() == accepted; }));
  EXPECT_TRUE(until([&] { return taken.bytes[1] < before + 20'000; })) << "it was given back";
  EXPECT_TRUE(deaf.control.empty());
}

// The game does not poll events. The transport then stops reading at its limit. Nothing is lost as long as
// the system's buffer has room.
TEST_F(TransportLimit, BoundsTheNumberOfUnpolledEvents) {
  config.limits.waiting_events = 50;
  listen();
  End& client = join(server.transport->port());
  polls = false;
  constexpr std::size_t kSent = 400;
  for (std::size_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::state, Bytes(20)));
  (void)until([] { return false; }, 0.3);
  std::size_t waited = 0;
  while (server.transport->poll())
    ++waited;
  EXPECT_GE(waited, 50u);
  EXPECT_LE(waited, 50u + 256u) << "and what ENet reads at once";
  polls = true;
  EXPECT_TRUE(until([&] { return waited + server.state.size() == kSent; }));
}

// The limit also counts bytes, because large messages cost more than small ones. No peer is disconnected for
// this reason, and the remaining data arrives when the game polls again.
TEST_F(TransportLimit, BoundsTheBytesOfUnpolledEvents) {
  config.limits.waiting_event_bytes = 200'000;
  listen();
  End& client = join(server.transport->port());
  polls = false;
  constexpr std::size_t kSent = 60, kSize = 20'000;
  for (std::size_t i = 0; i < kSent; ++i)
    ASSERT_TRUE(client.transport->send(client.connected[0], Channel::control, Bytes(kSize)));
  (void)until([] { return false; }, 1.0);
  std::size_t waited = 0, bytes = 0;
  while (const auto event = server.transport->poll()) {
    bytes += event->payload.size();
    ++waited;
  }
  EXPECT_GE(bytes, 200'000u);
  EXPECT_LT(bytes, 200'000u + kSize) << "one more may come";
  polls = true;
  EXPECT_TRUE(until([&] { return waited + server.control.size() == kSent; }));
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
  EXPECT_TRUE(names(fault([](auto& l) { l.message_bytes = kMaxControlBytes + 1; }), "message_bytes"));
  TransportLimits limits;
  limits.backlog_bytes = 0;
  const auto refused =
      EnetTransport::listen({.host = test::loopback(), .security = Insecure{}, .limits = limits});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(names(refused.error(), "backlog_bytes"));
}

}  // namespace
}  // namespace reckoner
