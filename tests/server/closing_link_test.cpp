// SPDX-License-Identifier: MIT
// The server ends sessions whose clients lack reliable messages. The last messages and the reason still
// arrive, and a client that does not acknowledge them costs the server little.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/followed_stream.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {
namespace {

using CK = ClientEvent::Kind;

constexpr std::uint64_t kClosingSeeds = 40;
constexpr double kLongestS = 10.0;   // ClosingLink::kLongestS
constexpr std::uint32_t kLast = 20;  // messages just before the end

// A transport that gives all peers one login, as if they had one token.
class OneLogin final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  [[nodiscard]] PeerLogin login(PeerId) const override { return {.client_id = 7}; }
};

struct LossyLink {
  const char* name;
  harness::LinkOptions options;
};

// A server with one client that has joined. All of it happens over a bad link.
class Ending {
 public:
  Ending(const harness::LinkOptions& link, std::uint64_t seed, bool one_login = false)
      : world(config(link, seed, one_login)) {
    world.add_client();
    world.tap(0).filter = [this](const TransportEvent& event) {
      if (event.kind == TransportEvent::Kind::received) stream.add(event.payload);
      return true;
    };
    world.on_frame = [this](std::size_t client, double, std::span<const ShownEntity>) {
      if (client == 0) read();
    };
    while (world.client(0).status() != ClientStatus::joined && world.now_s() < 60.0)
      world.run_to(world.now_s() + 0.5);
    EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
    world.run_to(world.now_s() + 1.0);
  }

  void send(std::uint32_t messages, std::size_t bytes) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      Bytes text(bytes);
      std::memcpy(text.data(), &sent, sizeof sent);
      ++sent;
      ASSERT_TRUE(world.server().send(world.server().clients().front(), text, Delivery::reliable));
    }
  }
  // Gives the client an entity, so that the end of the session takes it away again.
  void give() {
    owned = *world.server().spawn(0, "avatar", State{});
    ASSERT_TRUE(world.server().give(owned, world.server().clients().front()));
    world.run_to(world.now_s() + 2.0);
  }
  // Runs until the client's connection has ended, and then for a moment. Returns after how long it ended.
  double wait() {
    const double from_s = world.now_s();
    while (ended_s < 0.0 && world.now_s() < from_s + 2.0 * kLongestS)
      world.run_to(world.now_s() + 0.1);
    EXPECT_GE(ended_s, 0.0) << "the connection did not end";
    read();
    return ended_s - from_s;
  }

  World world;
  FollowedStream stream;  // of the server's messages until the test takes over the tap
  EntityId owned;
  std::uint32_t sent = 0, received = 0;
  double ended_s = -1.0;
  std::uint32_t received_before_the_end = 0;

 private:
  static WorldConfig config(const harness::LinkOptions& link, std::uint64_t seed, bool one_login) {
    WorldConfig config;
    config.links = both_ways(link);
    config.seed = seed;
    config.log_packets = true;
    if (one_login) config.door = [](Transport& network) { return std::make_unique<OneLogin>(network); };
    return config;
  }
  void read() {
    while (const auto message = world.client(0).poll_message()) {
      std::uint32_t number = 0;
      std::memcpy(&number, message->payload.data(), sizeof number);
      EXPECT_EQ(number, received++) << "in order";
    }
    const ClientStatus status = world.client(0).status();
    if (ended_s < 0.0 && (status == ClientStatus::refused || status == ClientStatus::disconnected)) {
      ended_s = world.now_s();
      received_before_the_end = received;
    }
  }
};

class ClosingLinks : public testing::TestWithParam<LossyLink> {};

TEST_P(ClosingLinks, ReasonOfAKickArrivesAfterTheLastMessages) {
  double longest_s = 0.0;
  for (std::uint64_t seed = 1; seed <= kClosingSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Ending ending(GetParam().options, seed);
    if (seed % 2 == 0) ending.give();
    ending.send(kLast, 300);
    const std::string reason = "game number " + std::to_string(seed);
    ASSERT_TRUE(ending.world.server().kick(ending.world.server().clients().front(), reason));
    EXPECT_EQ(ending.world.server().client_count(), 0u);
    longest_s = std::max(longest_s, ending.wait());
    EXPECT_EQ(ending.world.client(0).status(), ClientStatus::refused);
    EXPECT_EQ(ending.world.client(0).refusal(), "kicked by the server: " + reason);
    EXPECT_EQ(ending.received, kLast);
    EXPECT_EQ(ending.received_before_the_end, kLast) << "the messages arrive before the end";
    EXPECT_EQ(ending.world.count(0, CK::disconnected), 1u);
  }
  RecordProperty("longest_s", std::to_string(longest_s));
  EXPECT_LT(longest_s, kLongestS);
}

TEST_P(ClosingLinks, ReplacedClientLearnsIt) {
  for (std::uint64_t seed = 1; seed <= kClosingSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Ending ending(GetParam().options, seed, true);
    if (seed % 2 == 0) ending.give();
    ending.send(kLast, 300);
    const std::size_t newer = ending.world.add_client();
    (void)ending.wait();
    EXPECT_EQ(ending.world.client(0).status(), ClientStatus::refused);
    EXPECT_EQ(ending.world.client(0).refusal(), describe({EndReason::replaced, 0}));
    EXPECT_EQ(ending.received, kLast);
    ending.world.run_to(ending.world.now_s() + 10.0);
    EXPECT_EQ(ending.world.client(newer).status(), ClientStatus::joined);
    EXPECT_EQ(ending.world.server().client_count(), 1u);
    EXPECT_FALSE(ending.world.server().owner(ending.owned));
  }
}

TEST_P(ClosingLinks, ClientLearnsOfAShutdownAfterTheLastMessages) {
  for (std::uint64_t seed = 1; seed <= kClosingSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Ending ending(GetParam().options, seed);
    ending.send(kLast, 300);
    EXPECT_EQ(ending.world.server().closing_count(), 0u);
    ending.world.server().shutdown();
    EXPECT_EQ(ending.world.server().client_count(), 0u);
    const double until_s = ending.world.now_s() + 2.0 * kLongestS;
    while (ending.world.server().closing_count() > 0 && ending.world.now_s() < until_s)
      ending.world.run_to(ending.world.now_s() + 0.01);
    EXPECT_GE(ending.ended_s, 0.0) << "the server may stop only when the client knows";
    (void)ending.wait();
    EXPECT_EQ(ending.world.count(0, CK::server_closed), 1u);
    EXPECT_EQ(ending.world.client(0).refusal(), describe({EndReason::server_shutdown, 0}));
    EXPECT_EQ(ending.received, kLast);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , ClosingLinks,
    testing::Values(LossyLink{"Loss", {.latency_ms = 40.0, .jitter_ms = 5.0, .loss_percent = 20.0}},
                    LossyLink{"Bursts",
                              {.latency_ms = 40.0, .jitter_ms = 5.0, .loss_percent = 20.0, .burst = 6.0}}),
    [](const auto& link) { return std::string(link.param.name); });

// Messages that wait for a spawn which the client will never get are delivered at the end.
TEST(ClosingLink, MessagesBehindALostSpawnArrive) {
  Ending ending({.latency_ms = 40.0}, 1);
  World& world = ending.world;
  FollowedStream& stream = ending.stream;
  bool marked = false;
  world.tap(0).filter = [&](const TransportEvent& event) {
    if (event.kind != TransportEvent::Kind::received) return true;
    BitReader reader{event.payload};
    if (read_server_header(reader).has_spawns) return false;
    stream.add(event.payload);
    while (const auto message = stream.next())
      marked = marked || std::holds_alternative<AfterSpawnsMessage>(*message);
    return true;
  };
  for (int i = 0; i < 50; ++i)
    (void)world.server().spawn(0, "new", State{});
  world.run_to(world.now_s() + 0.02);
  ending.send(kLast, 300);
  ASSERT_TRUE(world.server().kick(world.server().clients().front(), "before it begins"));
  (void)ending.wait();
  EXPECT_TRUE(marked) << "otherwise the test proves nothing";
  EXPECT_EQ(world.client(0).refusal(), "kicked by the server: before it begins");
  EXPECT_EQ(ending.received, kLast);
}

// A kick whose reason is the only message.
TEST(ClosingLink, KickWithoutOtherMessagesIsFast) {
  Ending ending({.latency_ms = 40.0}, 1);
  ASSERT_TRUE(ending.world.server().kick(ending.world.server().clients().front(), "enough"));
  EXPECT_EQ(ending.world.server().closing_count(), 1u);
  EXPECT_LT(ending.wait(), 0.4);
  EXPECT_EQ(ending.world.client(0).refusal(), "kicked by the server: enough");
}

// A client that acknowledges nothing is disconnected after ten seconds. The server does not know that it has
// everything, and sends parts again, but slowly.
TEST(ClosingLink, ClientThatNeverAcknowledgesIsDisconnectedInTime) {
  Ending ending({.latency_ms = 40.0}, 1);
  World& world = ending.world;
  ending.send(15, kMaxReliableBytes);
  world.tap(0).drop_sent = [](std::span<const std::byte>) { return true; };
  ASSERT_TRUE(world.server().kick(world.server().clients().front(), "silent"));
  const std::size_t first = world.network().packets().size();
  const double lasted_s = ending.wait();
  EXPECT_GT(lasted_s, kLongestS - 0.1);
  EXPECT_LT(lasted_s, kLongestS + 0.3);
  std::size_t datagrams = 0, bytes = 0;
  for (const auto& packet : world.network().packets().subspan(first)) {
    datagrams += packet.down && packet.state ? 1 : 0;
    bytes += packet.down && packet.state ? packet.bytes : 0;
  }
  RecordProperty("datagrams", std::to_string(datagrams));
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LT(datagrams, 400u);
  EXPECT_LT(bytes, 400'000u);
  // It is gone for good.
  EXPECT_EQ(world.server().closing_count(), 0u);
  const std::size_t then = world.network().packets().size();
  world.run_to(world.now_s() + 5.0);
  for (const auto& packet : world.network().packets().subspan(then))
    EXPECT_FALSE(packet.down && packet.state);
}

// While a link closes, its client cannot do anything, and the next clients can join.
TEST(ClosingLink, ClientIsOutAtOnce) {
  WorldConfig config{.links = both_ways({.latency_ms = 40.0})};
  config.server.max_clients = 1;
  World world(config);
  const std::size_t kicked = world.add_client();
  world.run_to(1.0);
  ASSERT_TRUE(world.server().kick(world.server().clients().front(), "out"));
  ASSERT_TRUE(world.client(kicked).send(Bytes(10), Delivery::reliable));
  (void)world.client(kicked).send(Bytes(10), Delivery::unreliable);
  const std::size_t next = world.add_client();
  world.run_to(4.0);
  EXPECT_EQ(world.server().stats().messages_received, 0u);
  EXPECT_EQ(world.client(kicked).status(), ClientStatus::refused);
  EXPECT_EQ(world.client(next).status(), ClientStatus::joined);
}

// Clients that acknowledge nothing are kicked, one generation after the other. There are never more closing
// links than the server may have clients: the oldest ends.
TEST(ClosingLink, NumberIsBounded) {
  constexpr std::size_t kClients = 3, kGenerations = 4;
  WorldConfig config{.links = both_ways({.latency_ms = 10.0})};
  config.server.max_clients = kClients;
  World world(config);
  std::vector<double> ended_s;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity>) {
    ended_s.resize(std::max(ended_s.size(), client + 1), -1.0);
    if (ended_s[client] < 0.0 && world.client(client).status() == ClientStatus::refused)
      ended_s[client] = time_s;
  };
  std::vector<double> kicks_s;
  for (std::size_t generation = 0; generation < kGenerations; ++generation) {
    std::vector<std::size_t> clients;
    for (std::size_t i = 0; i < kClients; ++i)
      clients.push_back(world.add_client());
    world.run_to(world.now_s() + 0.5);
    ASSERT_EQ(world.server().client_count(), kClients) << "closing links take no places";
    for (const std::size_t client : clients)
      world.tap(client).drop_sent = [](std::span<const std::byte>) { return true; };
    world.run_to(world.now_s() + 0.2);
    kicks_s.push_back(world.now_s());
    const std::vector<ClientId> out(world.server().clients().begin(), world.server().clients().end());
    for (const ClientId client : out)
      ASSERT_TRUE(world.server().kick(client, "enough"));
    world.run_to(world.now_s() + 0.2);
    std::size_t open = 0;
    for (const double end_s : ended_s)
      open += end_s < 0.0 ? 1 : 0;
    EXPECT_EQ(open, kClients) << "generation " << generation;
  }
  world.run_to(kicks_s.back() + kLongestS + 1.0);
  for (std::size_t client = 0; client < kClients * kGenerations; ++client) {
    const std::size_t generation = client / kClients;
    ASSERT_GE(ended_s[client], 0.0) << client;
    // The last generation had its ten seconds; the ones before ended for the next one.
    const double until_s =
        generation + 1 < kGenerations ? kicks_s[generation + 1] : kicks_s.back() + kLongestS;
    EXPECT_NEAR(ended_s[client], until_s, 0.3) << client;
  }
}

}  // namespace
}  // namespace reckoner::test
