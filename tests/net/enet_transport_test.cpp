// SPDX-License-Identifier: MIT
#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;
using test::kTimeoutS;
using test::now_s;

// Generous, because the machine may be busy. A passing test takes milliseconds.

Bytes pattern(std::size_t size, int seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 31 + seed) & 0xFF);
  return bytes;
}

struct Received {
  PeerId peer;
  Channel channel;
  Bytes payload;
};

/// A transport and a record of its events.
struct EventRecord {
  std::unique_ptr<EnetTransport> transport;
  std::vector<PeerId> connected;
  std::vector<std::uint32_t> connect_reasons;
  std::vector<PeerId> disconnected;
  std::vector<std::uint32_t> disconnect_reasons;
  std::vector<Received> received;
  std::vector<double> waited_s;  ///< TransportEvent::waited_s of each state payload

  void turn() {
    if (!transport) return;
    transport->service(0.0);
    while (const auto event = transport->poll()) {
      switch (event->kind) {
        case TransportEvent::Kind::connected:
          connected.push_back(event->peer);
          connect_reasons.push_back(event->reason);
          break;
        case TransportEvent::Kind::disconnected:
          disconnected.push_back(event->peer);
          disconnect_reasons.push_back(event->reason);
          break;
        case TransportEvent::Kind::received:
          received.push_back({event->peer, event->channel, {event->payload.begin(), event->payload.end()}});
          if (event->channel == Channel::state) waited_s.push_back(event->waited_s);
          break;
      }
    }
  }
};

bool turn_until(const std::vector<EventRecord*>& ends, const std::function<bool()>& done,
                double patience_s = kTimeoutS) {
  const double end_s = now_s() + patience_s;
  while (now_s() < end_s) {
    for (EventRecord* end : ends)
      end->turn();
    if (done()) return true;
    ends.back()->transport->wait(0.002);
  }
  return false;
}

class EnetTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { listen(8); }

  void listen(std::uint32_t max_peers) {
    auto listening = EnetTransport::listen(
        {.host = test::loopback(), .port = 0, .max_peers = max_peers, .security = Insecure{}});
    ASSERT_TRUE(listening) << listening.error();
    server_.transport = std::move(*listening);
    ASSERT_NE(server_.transport->port(), 0);
  }

  void start(EventRecord& client, std::uint32_t reason = 7) {
    auto connecting = EnetTransport::connect(test::loopback(), server_.transport->port(), reason, Insecure{});
    ASSERT_TRUE(connecting) << connecting.error();
    client.transport = std::move(*connecting);
  }

  void join(EventRecord& client, std::uint32_t reason = 7) {
    start(client, reason);
    const std::size_t before = server_.connected.size();
    ASSERT_TRUE(turn_until({&server_, &client},
                           [&] { return !client.connected.empty() && server_.connected.size() > before; }));
  }

  EventRecord server_;
  EventRecord client_;
};

TEST_F(EnetTransportTest, ConnectPassesAReasonCode) {
  join(client_, 0xDEADBEEF);
  EXPECT_EQ(server_.connect_reasons.front(), 0xDEADBEEFu);
  EXPECT_TRUE(server_.connected.front());
  EXPECT_TRUE(client_.connected.front());
}

TEST_F(EnetTransportTest, BothChannelsWorkInBothDirections) {
  join(client_);
  const PeerId to_client = server_.connected.front();
  const PeerId to_server = client_.connected.front();
  for (const Channel channel : {Channel::control, Channel::state}) {
    EXPECT_TRUE(server_.transport->send(to_client, channel, pattern(500, 1)));
    EXPECT_TRUE(client_.transport->send(to_server, channel, pattern(300, 2)));
  }
  ASSERT_TRUE(turn_until({&server_, &client_},
                         [&] { return server_.received.size() == 2 && client_.received.size() == 2; }));
  for (const EventRecord* end : {&server_, &client_}) {
    EXPECT_NE(end->received[0].channel, end->received[1].channel);
    for (const Received& got : end->received) {
      EXPECT_EQ(got.payload, end == &server_ ? pattern(300, 2) : pattern(500, 1));
      EXPECT_EQ(got.peer, end == &server_ ? to_client : to_server);
    }
  }
  EXPECT_EQ(client_.transport->stats().payload_bytes_sent, 600u);
  EXPECT_EQ(server_.transport->stats().payload_bytes_received, 600u);
  EXPECT_EQ(server_.transport->stats().refused, 0u);
}

TEST_F(EnetTransportTest, CountsHeadersOnTheWire) {
  join(client_);
  const TransportStats before = client_.transport->stats();
  ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::state, pattern(100)));
  client_.transport->service(0.0);
  const TransportStats& after = client_.transport->stats();
  // Sizes in bytes: UDP and IPv4 headers 28, ENet's datagram header 2 to 4, ENet's command 8.
  // Acknowledgements may be included.
  const std::uint64_t datagrams = after.datagrams_sent - before.datagrams_sent;
  ASSERT_GE(datagrams, 1u);
  EXPECT_GE(after.wire_bytes_sent - before.wire_bytes_sent, 100 + 28 + 2 + 8);
  EXPECT_LE(after.wire_bytes_sent - before.wire_bytes_sent, 100 + datagrams * (28 + 4 + 8 + 32));

  ASSERT_TRUE(turn_until({&server_, &client_}, [&] { return !server_.received.empty(); }));
  EXPECT_GE(server_.transport->stats().wire_bytes_received, 100u + 38u);
}

#ifdef __linux__
// A game that calls receive() once per frame learns when a datagram arrived, not only when it was read.
TEST_F(EnetTransportTest, StatePayloadsCarryHowLongTheyWaitedInTheSocket) {
  constexpr double kWaitS = 0.05;
  join(client_);
  EXPECT_TRUE(server_.transport->send(server_.connected.front(), Channel::state, pattern(100, 1)));
  server_.transport->service(now_s());
  std::this_thread::sleep_for(std::chrono::duration<double>(kWaitS));
  client_.turn();
  ASSERT_EQ(client_.waited_s.size(), 1u);
  EXPECT_GT(client_.waited_s[0], kWaitS - 0.005);
  EXPECT_LT(client_.waited_s[0], kWaitS + 1.0);
}
#endif

// A client that flushes at the end of a frame reads what has arrived meanwhile, and handles it a frame later.
TEST_F(EnetTransportTest, StatePayloadsCarryHowLongTheyWaitedAfterAnEarlierPass) {
  constexpr double kWaitS = 0.05;
  join(client_);
  EXPECT_TRUE(server_.transport->send(server_.connected.front(), Channel::state, pattern(100, 1)));
  server_.transport->service(now_s());
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  client_.transport->service(now_s());  // reads the payload, which is not polled yet
  std::this_thread::sleep_for(std::chrono::duration<double>(kWaitS));
  client_.turn();
  ASSERT_EQ(client_.waited_s.size(), 1u);
  EXPECT_GT(client_.waited_s[0], kWaitS - 0.005);
  EXPECT_LT(client_.waited_s[0], kWaitS + 1.0);
}

TEST_F(EnetTransportTest, LargestPayloadsArriveAndLargerOnesAreRefused) {
  join(client_);
  const PeerId to_client = server_.connected.front();
  EnetTransport& server = *server_.transport;
  EXPECT_EQ(server.max_state_bytes(to_client), kMaxStateBytes);
  EXPECT_EQ(server.max_state_bytes(PeerId{99}), 0u);

  EXPECT_FALSE(server.send(to_client, Channel::state, pattern(kMaxStateBytes + 1)));
  EXPECT_FALSE(server.send(to_client, Channel::control, pattern(kMaxControlBytes + 1)));
  EXPECT_EQ(server.stats().refused, 2u);
  EXPECT_EQ(server.stats().payload_bytes_sent, 0u);

  EXPECT_TRUE(server.send(to_client, Channel::state, pattern(kMaxStateBytes)));
  EXPECT_TRUE(server.send(to_client, Channel::control, pattern(kMaxControlBytes)));
  ASSERT_TRUE(turn_until({&server_, &client_}, [&] { return client_.received.size() == 2; }));
  for (const Received& got : client_.received) {
    EXPECT_EQ(got.payload, pattern(got.channel == Channel::state ? kMaxStateBytes : kMaxControlBytes));
  }
  EXPECT_EQ(client_.transport->stats().refused, 0u);
}

TEST_F(EnetTransportTest, FullStatePayloadIsOneDatagram) {
  join(client_);
  turn_until(
      {&server_, &client_}, [] { return false; }, 0.1);  // waits for the acknowledgements of the join
  const std::uint64_t before = server_.transport->stats().datagrams_sent;
  ASSERT_TRUE(server_.transport->send(server_.connected.front(), Channel::state, pattern(kMaxStateBytes)));
  server_.transport->service(0.0);
  EXPECT_LE(server_.transport->stats().datagrams_sent - before, 2u);  // one datagram, or two if a ping is due
}

TEST_F(EnetTransportTest, ControlKeepsItsOrderAndStateIsNotThrottled) {
  join(client_);
  constexpr int kMessages = 400;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::control, pattern(200, i)));
    ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::state, pattern(50, i)));
    client_.turn();
    server_.turn();
  }
  ASSERT_TRUE(turn_until({&server_, &client_}, [&] { return server_.received.size() == 2 * kMessages; }));
  int next = 0;
  for (const Received& got : server_.received) {
    if (got.channel != Channel::control) continue;
    EXPECT_EQ(got.payload, pattern(200, next++));
  }
  EXPECT_EQ(next, kMessages);
}

TEST_F(EnetTransportTest, EmptyPayloadArrives) {
  join(client_);
  ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::control, {}));
  ASSERT_TRUE(turn_until({&server_, &client_}, [&] { return !server_.received.empty(); }));
  EXPECT_TRUE(server_.received.front().payload.empty());
}

TEST_F(EnetTransportTest, ServesSeveralClientsUnderDistinctIds) {
  EventRecord other;
  join(client_);
  join(other);
  ASSERT_EQ(server_.connected.size(), 2u);
  const PeerId first = server_.connected[0];
  const PeerId second = server_.connected[1];
  ASSERT_NE(first, second);
  EXPECT_TRUE(server_.transport->send(first, Channel::control, pattern(10, 1)));
  EXPECT_TRUE(server_.transport->send(second, Channel::control, pattern(10, 2)));
  ASSERT_TRUE(turn_until({&server_, &client_, &other},
                         [&] { return !client_.received.empty() && !other.received.empty(); }));
  EXPECT_EQ(client_.received[0].payload, pattern(10, 1));
  EXPECT_EQ(other.received[0].payload, pattern(10, 2));

  // Ids are not reused, although ENet reuses the slot.
  client_.transport.reset();
  ASSERT_TRUE(turn_until({&server_, &other}, [&] { return server_.disconnected.size() == 1; }));
  EXPECT_EQ(server_.disconnected[0], first);
  EXPECT_FALSE(server_.transport->send(first, Channel::control, pattern(10)));
  EventRecord third;
  join(third);
  EXPECT_NE(server_.connected.back(), first);
  EXPECT_NE(server_.connected.back(), second);
}

TEST_F(EnetTransportTest, DisconnectDeliversEarlierMessagesAndItsReason) {
  join(client_);
  const PeerId to_client = server_.connected.front();
  ASSERT_TRUE(server_.transport->send(to_client, Channel::control, pattern(20000)));
  server_.transport->disconnect(to_client, 42);
  EXPECT_FALSE(server_.transport->send(to_client, Channel::control, pattern(10)));
  ASSERT_TRUE(turn_until({&server_, &client_},
                         [&] { return !client_.disconnected.empty() && !server_.disconnected.empty(); }));
  EXPECT_EQ(client_.disconnect_reasons.front(), 42u);
  ASSERT_EQ(client_.received.size(), 1u);
  EXPECT_EQ(client_.received[0].payload.size(), 20000u);
  EXPECT_EQ(server_.disconnected.front(), to_client);
  server_.transport->disconnect(to_client, 1);  // has no effect
  EXPECT_EQ(server_.disconnected.size(), 1u);
}

TEST_F(EnetTransportTest, ClientNoticesAtOnceThatTheServerEnds) {
  join(client_);
  server_.transport.reset();
  const double start_s = now_s();
  ASSERT_TRUE(turn_until({&client_}, [&] { return !client_.disconnected.empty(); }));
  EXPECT_LT(now_s() - start_s, 2.0);
  EXPECT_EQ(client_.disconnected.front(), client_.connected.front());
}

TEST_F(EnetTransportTest, GivingUpWhileConnectingRaisesTheEvent) {
  start(client_);
  // The id of a client's only peer, which is not connected yet.
  client_.transport->disconnect(PeerId{1}, 0);
  client_.turn();
  ASSERT_EQ(client_.disconnected.size(), 1u);
}

TEST_F(EnetTransportTest, PayloadLivesUntilTheNextCall) {
  join(client_);
  ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::control, pattern(64, 5)));
  ASSERT_TRUE(client_.transport->send(client_.connected.front(), Channel::control, pattern(64, 6)));
  const double end_s = now_s() + kTimeoutS;
  std::optional<TransportEvent> event;
  while (!event && now_s() < end_s) {
    client_.turn();
    server_.transport->service(0.0);
    event = server_.transport->poll();
  }
  ASSERT_TRUE(event);
  const Bytes expected = pattern(64, 5);
  EXPECT_TRUE(std::equal(event->payload.begin(), event->payload.end(), expected.begin(), expected.end()));
}

// This test covers several waits of some seconds, so that the waits run at the same time. ENet reads the
// system's clock.
TEST_F(EnetTransportTest, GivesUpOnSilentPeers) {
  server_ = {};
  listen(2);
  join(client_);
  EventRecord silent;
  join(silent);
  const PeerId silent_id = server_.connected.back();
  const double silent_since_s = now_s();
  EventRecord unwanted;  // the server is full
  start(unwanted);
  EventRecord lonely;  // there is no server
  {
    std::uint16_t port = 0;
    {
      auto gone = EnetTransport::listen({.host = test::loopback(), .security = Insecure{}});
      ASSERT_TRUE(gone);
      port = (*gone)->port();
    }
    auto connecting = EnetTransport::connect(test::loopback(), port, 0, Insecure{});
    ASSERT_TRUE(connecting) << connecting.error();
    lonely.transport = std::move(*connecting);
  }
  const std::vector<EventRecord*> ends{&server_, &client_, &unwanted, &lonely};
  ASSERT_TRUE(turn_until(ends, [&] { return !lonely.disconnected.empty(); }));
  EXPECT_NEAR(now_s() - silent_since_s, 5.0, 1.5);
  ASSERT_TRUE(turn_until(ends, [&] { return !unwanted.disconnected.empty(); }));
  EXPECT_TRUE(unwanted.connected.empty() && lonely.connected.empty());
  EXPECT_TRUE(server_.disconnected.empty());

  ASSERT_TRUE(turn_until(
      {&server_, &client_}, [&] { return !server_.disconnected.empty(); }, 30.0));
  EXPECT_EQ(server_.disconnected.front(), silent_id);
  EXPECT_NEAR(now_s() - silent_since_s, 10.5, 1.5);
  EXPECT_TRUE(client_.disconnected.empty());
}

TEST(EnetTransport, ReportsAPortInUse) {
  auto first = EnetTransport::listen({.host = test::loopback(), .security = Insecure{}});
  ASSERT_TRUE(first);
  const std::uint16_t port = (*first)->port();
  const auto second = EnetTransport::listen({.host = test::loopback(), .port = port, .security = Insecure{}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), "UDP port " + std::to_string(port) + " is in use");
  EXPECT_FALSE(EnetTransport::listen({.host = "no-such-host.invalid", .security = Insecure{}}));
  EXPECT_FALSE(EnetTransport::listen({.host = "", .port = 0, .max_peers = 0, .security = Insecure{}}));
  EXPECT_FALSE(EnetTransport::listen({.host = "", .port = 0, .max_peers = 4096, .security = Insecure{}}));
}

TEST(EnetTransport, MissingHostOrPortFailsAtOnce) {
  EXPECT_FALSE(EnetTransport::connect("", 4000, 0, Insecure{}));
  EXPECT_FALSE(EnetTransport::connect(test::loopback(), 0, 0, Insecure{}));
}

TEST(EnetTransport, WaitsForTheRequestedTime) {
  auto transport = EnetTransport::listen({.host = test::loopback(), .security = Insecure{}});
  ASSERT_TRUE(transport);
  for (const double seconds : {0.0, 0.0004, 0.0035, 0.07}) {
    const double start_s = now_s();
    (*transport)->wait(seconds);
    EXPECT_GE(now_s() - start_s, seconds);
    EXPECT_LT(now_s() - start_s, seconds + 0.5);
  }
}

TEST(EnetTransport, ThreadsMayUseSeparateTransports) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 20; ++k)
        EXPECT_TRUE(EnetTransport::listen({.host = test::loopback(), .security = Insecure{}}));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace reckoner
