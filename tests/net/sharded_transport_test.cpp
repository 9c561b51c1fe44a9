// SPDX-License-Identifier: MIT
#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/sharded_transport.hpp>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;
using test::kTimeoutS;
using test::now_s;

constexpr std::uint32_t kClients = 40;
constexpr std::uint32_t kClientsPerHost = 16;

Bytes bytes_of(std::size_t number) {
  return Bytes(20, static_cast<std::byte>(number));
}

/// A transport and a record of its events.
template <class T>
struct EventLog {
  std::unique_ptr<T> transport;
  std::vector<PeerId> connected, disconnected;
  std::vector<std::uint32_t> reasons;  // one reason for each of `connected`
  std::vector<PeerId> senders;
  std::vector<Bytes> received;

  void turn() {
    transport->service(0.0);
    while (const auto event = transport->poll()) {
      if (event->kind == TransportEvent::Kind::connected) {
        connected.push_back(event->peer);
        reasons.push_back(event->reason);
      } else if (event->kind == TransportEvent::Kind::disconnected) {
        disconnected.push_back(event->peer);
      } else {
        senders.push_back(event->peer);
        received.emplace_back(event->payload.begin(), event->payload.end());
      }
    }
  }
};

class ShardedTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = ShardedTransport::listen(
        {.host = test::loopback(), .max_peers = kClients, .security = Insecure{}}, kClientsPerHost);
    ASSERT_TRUE(listening) << listening.error();
    server_.transport = std::move(*listening);
    clients_.resize(kClients);
    for (std::uint32_t i = 0; i < kClients; ++i) {
      auto connecting = EnetTransport::connect(test::loopback(), server_.transport->port(), i, Insecure{});
      ASSERT_TRUE(connecting) << connecting.error();
      clients_[i].transport = std::move(*connecting);
    }
    ASSERT_TRUE(turn_until([&] {
      return server_.connected.size() == kClients && all([](const auto& c) { return !c.connected.empty(); });
    }));
  }

  template <class Done>
  bool turn_until(Done done) {
    for (const double end_s = now_s() + kTimeoutS; now_s() < end_s;) {
      server_.turn();
      for (auto& client : clients_)
        client.turn();
      if (done()) return true;
      server_.transport->wait(0.002);
    }
    return false;
  }
  template <class Holds>
  bool all(Holds holds) const {
    for (const auto& client : clients_) {
      if (!holds(client)) return false;
    }
    return true;
  }

  EventLog<ShardedTransport> server_;
  std::vector<EventLog<EnetTransport>> clients_;
};

TEST_F(ShardedTransportTest, AdmitsMoreClientsThanOneHost) {
  ASSERT_GT(server_.transport->hosts(), 2u);
  std::set<PeerId> ids(server_.connected.begin(), server_.connected.end());
  EXPECT_EQ(ids.size(), kClients);  // different across hosts
  EXPECT_FALSE(ids.contains(PeerId{}));
  std::set<std::size_t> used;
  for (const PeerId id : ids)
    used.insert(server_.transport->host_of(id));
  EXPECT_GT(used.size(), 2u);
  EXPECT_LT(*used.rbegin(), server_.transport->hosts());
  EXPECT_EQ(std::set(server_.reasons.begin(), server_.reasons.end()).size(), kClients);
}

TEST_F(ShardedTransportTest, BothChannelsWorkInBothDirectionsForAllClients) {
  for (const Channel channel : {Channel::control, Channel::state}) {
    for (std::size_t i = 0; i < kClients; ++i) {
      ASSERT_TRUE(server_.transport->send(server_.connected[i], channel, bytes_of(server_.reasons[i])));
      ASSERT_TRUE(clients_[i].transport->send(clients_[i].connected[0], channel, bytes_of(i)));
    }
  }
  ASSERT_TRUE(turn_until([&] {
    return server_.received.size() == 2 * kClients &&
           all([](const auto& c) { return c.received.size() == 2; });
  }));
  for (std::size_t i = 0; i < kClients; ++i) {
    for (const Bytes& got : clients_[i].received)
      EXPECT_EQ(got, bytes_of(i));  // each client received its own payload
  }
  for (std::size_t k = 0; k < server_.senders.size(); ++k) {
    const auto at = std::ranges::find(server_.connected, server_.senders[k]) - server_.connected.begin();
    EXPECT_EQ(server_.received[k], bytes_of(server_.reasons.at(static_cast<std::size_t>(at))));
  }
  const TransportStats& stats = server_.transport->stats();
  EXPECT_EQ(stats.payload_bytes_sent, 2 * kClients * 20);
  EXPECT_EQ(stats.payload_bytes_received, 2 * kClients * 20);
  EXPECT_GE(stats.datagrams_received, 2 * kClients);
  EXPECT_EQ(server_.transport->max_state_bytes(server_.connected[0]), kMaxStateBytes);
}

TEST_F(ShardedTransportTest, ForgetsLeavingClientsAndDisconnectsAllAtTheEnd) {
  server_.transport->disconnect(server_.connected[7], 3);
  clients_[server_.reasons[9]].transport.reset();
  clients_.erase(clients_.begin() + server_.reasons[9]);
  ASSERT_TRUE(turn_until([&] { return server_.disconnected.size() == 2; }));
  const std::set<PeerId> gone(server_.disconnected.begin(), server_.disconnected.end());
  EXPECT_EQ(gone, (std::set<PeerId>{server_.connected[7], server_.connected[9]}));
  EXPECT_FALSE(server_.transport->send(server_.connected[7], Channel::state, bytes_of(1)));
  EXPECT_FALSE(server_.transport->send(PeerId{0xFFFFFFFF}, Channel::state, bytes_of(1)));
  EXPECT_EQ(server_.transport->max_state_bytes(PeerId{}), 0u);
  server_.transport.reset();
  for (const double end_s = now_s() + kTimeoutS; now_s() < end_s;) {
    for (auto& client : clients_)
      client.turn();
    if (all([](const auto& c) { return c.disconnected.size() == 1; })) break;
  }
  EXPECT_TRUE(all([](const auto& c) { return c.disconnected.size() == 1; }));
}

TEST_F(ShardedTransportTest, DatagramAtAnyHostEndsTheWait) {
  std::vector<double> waited_s;
  for (std::size_t i = 0; i < kClients; ++i) {
    ASSERT_TRUE(clients_[i].transport->send(clients_[i].connected[0], Channel::state, bytes_of(i)));
    clients_[i].transport->service(0.0);
    const std::size_t before = server_.received.size();
    const double start_s = now_s();
    while (server_.received.size() == before && now_s() - start_s < kTimeoutS) {
      server_.transport->wait(kTimeoutS);  // acknowledgements and pings end the wait, too
      server_.turn();
    }
    ASSERT_EQ(server_.received.size(), before + 1);
    waited_s.push_back(now_s() - start_s);
  }
  // A host whose socket is not watched would be polled only every 50 ms.
  std::ranges::sort(waited_s);
  EXPECT_LT(waited_s[kClients / 2], 0.02);
  const double start_s = now_s();
  server_.transport->wait(0.0);
  server_.transport->wait(-1.0);
  EXPECT_LT(now_s() - start_s, 1.0);
}

TEST(ShardedTransport, UsesOneHostIfThatIsEnough) {
  auto one = ShardedTransport::listen({.host = test::loopback(), .max_peers = 4095, .security = Insecure{}});
  ASSERT_TRUE(one) << one.error();
  EXPECT_EQ((*one)->hosts(), 1u);
  EXPECT_EQ((*one)->host_of(PeerId{4711}), 0u);
}

TEST(ShardedTransport, LeavesRoomForRandomDistribution) {
  EXPECT_EQ(ShardedTransport::hosts_for(64, 4095), 1u);
  EXPECT_EQ(ShardedTransport::hosts_for(4096, 4095), 2u);
  EXPECT_EQ(ShardedTransport::hosts_for(65'535, 4095), 18u);
  for (const std::uint32_t peers : {5000u, 20'000u, 65'535u}) {
    const double mean = static_cast<double>(peers) / ShardedTransport::hosts_for(peers, 4095);
    EXPECT_LE(mean + 5.0 * std::sqrt(mean), 4095.0);
  }
}

TEST(ShardedTransport, NeverSharesItsPortWithAnotherServer) {
  const EnetListenConfig any{.host = test::loopback(), .max_peers = kClients, .security = Insecure{}};
  auto sharded = ShardedTransport::listen(any, kClientsPerHost);
  ASSERT_TRUE(sharded) << sharded.error();
  EnetListenConfig same = any;
  same.port = (*sharded)->port();
  const std::string in_use = "UDP port " + std::to_string(same.port) + " is in use";
  auto second = ShardedTransport::listen(same, kClientsPerHost);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), in_use);
  auto single = EnetTransport::listen(same);
  ASSERT_FALSE(single);
  EXPECT_EQ(single.error(), in_use);
  sharded->reset();  // now the single host listens first
  single = EnetTransport::listen(same);
  ASSERT_TRUE(single) << single.error();
  second = ShardedTransport::listen(same, kClientsPerHost);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), in_use);
}

TEST(ShardedTransport, RefusesInvalidSettings) {
  EXPECT_FALSE(ShardedTransport::listen({.host = test::loopback(), .max_peers = 0, .security = Insecure{}}));
  EXPECT_FALSE(
      ShardedTransport::listen({.host = test::loopback(), .max_peers = 1'000'000, .security = Insecure{}}));
  EXPECT_FALSE(ShardedTransport::listen({.host = test::loopback(), .security = Insecure{}}, 0));
  EXPECT_FALSE(ShardedTransport::listen({.host = test::loopback(), .security = Insecure{}}, 4096));
  EXPECT_FALSE(
      ShardedTransport::listen({.host = "no-such-host.invalid", .max_peers = 5000, .security = Insecure{}}));
}

}  // namespace
}  // namespace reckoner
