// SPDX-License-Identifier: MIT
#include "harness/sim/sim_transport.hpp"

#include "harness/sim/wire_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

using Kind = TransportEvent::Kind;

std::vector<std::byte> bytes(const std::string& text) {
  std::vector<std::byte> result(text.size());
  std::memcpy(result.data(), text.data(), text.size());
  return result;
}

std::string text(const TransportEvent& event) {
  return {reinterpret_cast<const char*>(event.payload.data()), event.payload.size()};
}

SimNetworkConfig network(double latency_ms, double jitter_ms = 0.0, double loss = 0.0,
                         double duplicate = 0.0) {
  SimNetworkConfig config;
  config.links.up = {latency_ms, jitter_ms, loss, 1.0, duplicate, 0.0, 100.0};
  config.links.down = config.links.up;
  return config;
}

// Runs the network until `until_s` and passes on every event with its time.
template <class OnServer, class OnClient>
void run(SimNetwork& net, Transport& client, double until_s, OnServer on_server, OnClient on_client) {
  while (net.next_event_s() <= until_s) {
    net.advance(net.next_event_s());
    while (const auto event = net.server().poll())
      on_server(*event);
    while (const auto event = client.poll())
      on_client(*event);
  }
  net.advance(until_s);
}

constexpr auto kIgnore = [](const TransportEvent&) {};
constexpr PeerId kPeer{1};

TEST(SimTransport, ConnectionTakesOneRoundTripForTheClientAndMoreForTheServer) {
  SimNetwork net(network(50.0));
  Transport& client = net.add_client(42);
  double client_s = -1.0;
  double server_s = -1.0;
  std::uint32_t reason = 0;
  run(
      net, client, 1.0,
      [&](const TransportEvent& event) {
        EXPECT_EQ(event.kind, Kind::connected);
        server_s = net.now_s();
        reason = event.reason;
      },
      [&](const TransportEvent& event) {
        EXPECT_EQ(event.kind, Kind::connected);
        client_s = net.now_s();
      });
  EXPECT_NEAR(client_s, 0.100, 1e-9);
  EXPECT_NEAR(server_s, 0.150, 1e-9);
  EXPECT_EQ(reason, 42u);
}

TEST(SimTransport, SendsNothingBeforeTheConnectionIsEstablished) {
  SimNetwork net(network(50.0));
  Transport& client = net.add_client(0);
  EXPECT_FALSE(client.send(kPeer, bytes("early")));
  EXPECT_FALSE(net.server().send(kPeer, bytes("early")));
  EXPECT_FALSE(net.server().send(PeerId{9}, bytes("nobody")));
  EXPECT_FALSE(net.server().send(PeerId{}, bytes("nobody")));
  EXPECT_FALSE(net.send_message(0, true, bytes("early")));
  EXPECT_FALSE(net.send_message(0, false, bytes("early")));
  EXPECT_FALSE(net.send_message(9, true, bytes("nobody")));
}

TEST(SimTransport, DatagramsAreLostDelayedAndRepeatedLikeTheLink) {
  SimNetwork net(network(50.0, 20.0, 10.0, 10.0));
  Transport& client = net.add_client(0);
  run(net, client, 3.0, kIgnore, kIgnore);
  constexpr int kSent = 2000;
  std::vector<int> times(kSent, 0);
  int overtaken = 0;
  int last = -1;
  const auto take = [&](const TransportEvent& event) {
    const int number = std::stoi(text(event));
    ++times[static_cast<std::size_t>(number)];
    overtaken += number < last ? 1 : 0;
    last = number;
  };
  for (int i = 0; i < kSent; ++i) {
    ASSERT_TRUE(net.server().send(kPeer, bytes(std::to_string(i))));
    run(net, client, net.now_s() + 0.01, kIgnore, take);
  }
  run(net, client, net.now_s() + 1.0, kIgnore, take);
  int lost = 0;
  int twice = 0;
  for (const int count : times) {
    lost += count == 0 ? 1 : 0;
    twice += count == 2 ? 1 : 0;
  }
  EXPECT_NEAR(lost, 0.10 * kSent, 50.0);
  EXPECT_NEAR(twice, 0.09 * kSent, 50.0);
  EXPECT_GT(overtaken, 0);
}

TEST(SimTransport, MessagesArriveOnceAndInOrderOverABadLink) {
  SimNetwork net(network(40.0, 40.0, 30.0, 10.0));
  Transport& client = net.add_client(0);
  run(net, client, 20.0, kIgnore, kIgnore);
  std::vector<std::string> arrived;
  const auto take = [&](const TransportEvent& event) {
    ASSERT_EQ(event.kind, Kind::received);
    arrived.push_back(text(event));
  };
  const double sent_s = net.now_s();
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(net.send_message(0, true, bytes(std::to_string(i))));
  run(net, client, sent_s + 60.0, kIgnore, take);
  ASSERT_EQ(arrived.size(), 200u);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(arrived[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST(SimTransport, LongMessagesTravelInFragments) {
  SimNetworkConfig config = network(40.0, 40.0, 20.0);
  config.log_packets = true;
  SimNetwork net(config);
  Transport& client = net.add_client(0);
  run(net, client, 20.0, kIgnore, kIgnore);
  std::string message(SimNetwork::kMaxMessageBytes, 'x');
  for (std::size_t i = 0; i < message.size(); ++i)
    message[i] = static_cast<char>('a' + i % 23);
  std::string arrived;
  ASSERT_TRUE(net.send_message(0, true, bytes(message)));
  EXPECT_FALSE(net.send_message(0, true, bytes(message + "x")));
  run(net, client, net.now_s() + 60.0, kIgnore, [&](const TransportEvent& event) {
    if (event.kind == Kind::received) arrived = text(event);
  });
  EXPECT_TRUE(arrived == message) << arrived.size() << " bytes arrived";
  for (const PacketRecord& packet : net.packets())
    EXPECT_LE(packet.wire_bytes, 1428u);
}

TEST(SimTransport, CountsWhatENetWouldSend) {
  SimNetwork net(network(10.0));
  Transport& client = net.add_client(0);
  run(net, client, 1.0, kIgnore, kIgnore);
  const std::uint64_t before = net.server().stats().wire_bytes_sent;
  ASSERT_TRUE(net.server().send(kPeer, bytes("0123456789")));
  EXPECT_EQ(net.server().stats().wire_bytes_sent - before, 10u + 28 + 2 + 8);
  EXPECT_EQ(net.server().stats().payload_bytes_sent, 10u);
  EXPECT_FALSE(net.server().send(kPeer, std::vector<std::byte>(kMaxDatagramBytes + 1)));
  EXPECT_EQ(net.server().stats().refused, 1u);
}

TEST(SimTransport, DisconnectIsReportedToBothAfterEarlierMessages) {
  SimNetwork net(network(40.0, 20.0, 20.0));
  Transport& client = net.add_client(0);
  run(net, client, 10.0, kIgnore, kIgnore);
  ASSERT_TRUE(net.send_message(0, true, bytes("last words")));
  net.server().disconnect(kPeer, 7);
  EXPECT_FALSE(net.send_message(0, true, bytes("too late")));
  std::vector<std::string> client_saw;
  int server_saw = 0;
  run(
      net, client, net.now_s() + 30.0,
      [&](const TransportEvent& event) { server_saw += event.kind == Kind::disconnected ? 1 : 0; },
      [&](const TransportEvent& event) {
        client_saw.push_back(event.kind == Kind::received ? text(event) : std::to_string(event.reason));
      });
  EXPECT_EQ(client_saw, (std::vector<std::string>{"last words", "7"}));
  EXPECT_EQ(server_saw, 1);
}

// Loss bursts are counted in datagrams, so they last longest for a connection that sends little.
TEST(SimTransport, BadRadioLinkDelaysTheJoinOnlyBriefly) {
  std::vector<double> open_s;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SimNetworkConfig config = network(80.0, 40.0, 3.0);
    config.links.up.burst = config.links.down.burst = 3.0;
    config.seed = seed;
    SimNetwork net(config);
    Transport& client = net.add_client(0);
    double said_s = 60.0;
    run(
        net, client, 60.0,
        [&](const TransportEvent& event) {
          if (event.kind != Kind::received) return;
          EXPECT_TRUE(net.send_message(0, true, bytes("come in")));
        },
        [&](const TransportEvent& event) {
          if (event.kind == Kind::connected) {
            EXPECT_TRUE(net.send_message(0, false, bytes("hello")));
          }
          if (event.kind == Kind::received) said_s = net.now_s();
        });
    open_s.push_back(said_s);
  }
  std::ranges::sort(open_s);
  EXPECT_LT(open_s[500], 0.6);
  EXPECT_LT(open_s[990], 3.5);     // 7.5 if timeouts doubled, as in ENet
  EXPECT_LT(open_s.back(), 10.0);  // with doubled timeouts, 1 % never connect
}

TEST(SimTransport, OldestMessageArrivesSoonAndOthersDoNotFillTheLink) {
  constexpr std::size_t kMessages = 40;
  SimNetworkConfig config = network(40.0);
  config.log_packets = true;
  const auto script = LinkScript::parse("1 down loss=100\n11 down loss=0\n");
  ASSERT_TRUE(script) << script.error();
  config.script = *script;
  SimNetwork net(config);
  Transport& client = net.add_client(0);
  run(net, client, 1.0, kIgnore, kIgnore);
  const std::size_t before = net.packets().size();
  for (std::size_t i = 0; i < kMessages; ++i)
    ASSERT_TRUE(net.send_message(0, true, bytes("news")));
  run(net, client, 11.0, kIgnore, kIgnore);
  EXPECT_LT(net.packets().size() - before, kMessages * 9 + 50);
  double first_s = 0.0;
  run(net, client, 40.0, kIgnore, [&](const TransportEvent&) {
    if (first_s == 0.0) first_s = net.now_s();
  });
  EXPECT_LT(first_s, 11.0 + 0.25 + 0.04 + 1e-9);
}

TEST(SimTransport, GivesUpWithoutAnAnswer) {
  SimNetwork net(network(40.0, 0.0, 100.0));
  Transport& client = net.add_client(0);
  int disconnected = 0;
  run(net, client, 120.0, kIgnore,
      [&](const TransportEvent& event) { disconnected += event.kind == Kind::disconnected ? 1 : 0; });
  EXPECT_EQ(disconnected, 1);
}

TEST(SimTransport, FollowsItsScript) {
  SimNetworkConfig config = network(10.0);
  config.start_s = 100.0;
  const auto script = LinkScript::parse("5 down latency-ms=200\n");
  ASSERT_TRUE(script) << script.error();
  config.script = *script;
  SimNetwork net(config);
  Transport& client = net.add_client(0);
  run(net, client, 105.5, kIgnore, kIgnore);
  ASSERT_TRUE(net.server().send(kPeer, bytes("x")));
  double arrived_s = 0.0;
  run(net, client, 107.0, kIgnore, [&](const TransportEvent&) { arrived_s = net.now_s(); });
  EXPECT_NEAR(arrived_s, 105.7, 1e-9);
}

TEST(SimTransport, LogsEveryDatagramAndItsEntities) {
  SimNetworkConfig config = network(10.0, 0.0, 0.0, 100.0);
  config.log_packets = true;
  SimNetwork net(config);
  Transport& client = net.add_client(0);
  run(net, client, 1.0, kIgnore, kIgnore);
  const std::size_t first = net.packets().size();
  ASSERT_TRUE(net.server().send(kPeer, std::vector<std::byte>(300)));
  ASSERT_TRUE(net.server().send(kPeer, std::vector<std::byte>(100)));
  net.note_entities(first, 8);
  const auto packets = net.packets().subspan(first);
  ASSERT_EQ(packets.size(), 4u);  // each one twice
  EXPECT_EQ(packets[0].entities, 6u);
  EXPECT_EQ(packets[1].entities, 6u);
  EXPECT_TRUE(packets[1].duplicate);
  EXPECT_EQ(packets[2].entities, 2u);
  EXPECT_NEAR(packets[0].arrived_s.value_or(0.0) - packets[0].sent_s, 0.01, 1e-9);
}

}  // namespace
}  // namespace reckoner::harness
