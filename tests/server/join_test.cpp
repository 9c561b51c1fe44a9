// SPDX-License-Identifier: MIT
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using CK = ClientEvent::Kind;
using SK = ServerEvent::Kind;

/// A connection without a Client, for messages that no Client would send.
struct RawConnection {
  explicit RawConnection(World& world, std::uint32_t version = kProtocolVersion)
      : world_(world), transport_(world.network().add_client(version)) {}

  /// Runs the world until the connection is established.
  void connect() {
    for (int i = 0; i < 200 && !connected_; ++i)
      step();
    ASSERT_TRUE(connected_);
  }
  void step() {
    world_.run_to(world_.now_s() + 0.01);
    while (const auto event = transport_.poll()) {
      connected_ = connected_ || event->kind == TransportEvent::Kind::connected;
      if (event->kind == TransportEvent::Kind::disconnected) ended_ = unpack_end_code(event->reason);
    }
  }
  void send_request(int version) {
    JoinRequest request;
    request.version = static_cast<std::uint16_t>(version);
    send(request_datagram(request));
  }
  void send(const Bytes& datagram) { transport_.send({1}, datagram); }
  /// Runs until the server ends the connection and returns the reason.
  EndCode wait_for_end() {
    for (int i = 0; i < 1000 && !ended_; ++i)
      step();
    EXPECT_TRUE(ended_);
    return ended_.value_or(EndCode{});
  }

  World& world_;
  Transport& transport_;
  bool connected_ = false;
  std::optional<EndCode> ended_;
};

Bytes garbage(scenario::Random& random, std::size_t size) {
  Bytes out(size);
  for (std::byte& b : out)
    b = static_cast<std::byte>(random.below(256));
  return out;
}

TEST(Join, AcceptedClientSeesTheWorld) {
  World world({.links = network("broadband")});
  const EntityId id = world.add_body(Circle{}, {}, "round");
  const std::size_t client = world.add_client();
  EXPECT_EQ(world.client(client).status(), ClientStatus::connecting);
  world.run_to(1.0);
  EXPECT_EQ(world.client(client).status(), ClientStatus::joined);
  EXPECT_EQ(world.server().client_count(), 1u);
  EXPECT_EQ(world.count(client, CK::joined), 1u);
  EXPECT_EQ(world.count(SK::client_joined), 1u);
  ASSERT_NE(world.shown(client, id), nullptr);
  ASSERT_NE(world.client(client).info(id), nullptr);
  EXPECT_EQ(world.client(client).info(id)->name, "round");
  EXPECT_TRUE(world.client(client).refusal().empty());
}

TEST(Join, OtherArchetypesAreRefusedWithAReason) {
  World world({});
  ClientConfig other;
  other.archetypes[0].name = "something else";
  const std::size_t refused = world.add_client(other);
  const std::size_t fine = world.add_client();
  world.run_to(1.0);
  EXPECT_EQ(world.client(refused).status(), ClientStatus::refused);
  EXPECT_NE(world.client(refused).refusal().find("archetypes"), std::string::npos);
  EXPECT_EQ(world.client(fine).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(SK::client_refused), 1u);
  EXPECT_EQ(world.count(SK::client_joined), 1u);
}

TEST(Join, OtherProtocolVersionIsRefusedWithTheServersVersion) {
  World world({});
  RawConnection stranger(world);
  stranger.connect();
  stranger.send_request(kProtocolVersion + 1);
  const EndCode code = stranger.wait_for_end();
  EXPECT_EQ(code.reason, EndReason::version);
  EXPECT_EQ(code.detail, kProtocolVersion);
  EXPECT_EQ(world.server().client_count(), 0u);
}

// The number that a client passes to its transport has an effect: the server compares it before it reads a
// request to join. A transport that carries no number gives 0.
TEST(Join, OtherVersionOfTheConnectionIsRefused) {
  World world({});
  RawConnection stranger(world, kProtocolVersion + 1), unnumbered(world, 0);
  const EndCode code = stranger.wait_for_end();
  EXPECT_EQ(code.reason, EndReason::version);
  EXPECT_EQ(code.detail, kProtocolVersion);
  EXPECT_EQ(world.count(SK::client_refused), 1u);
  unnumbered.connect();
  unnumbered.send_request(kProtocolVersion + 2);
  EXPECT_EQ(unnumbered.wait_for_end().reason, EndReason::version);
}

// The request to join has not changed since version 12. Version 11 and older ones sent it as a message of
// ENet's, which no transport accepts any more: only the number of the connection tells such a version.
TEST(Join, ClientsOfOlderVersionsAreRefusedWithBothVersions) {
  ASSERT_EQ(kProtocolVersion, 15) << "imitate the version before";
  struct Old {
    std::uint32_t connection;  // 0: the transport carries no number
    int version;
  };
  for (const Old& old : {Old{11, 11}, Old{12, 12}, Old{13, 13}, Old{14, 14}, Old{0, 14}}) {
    World world({});
    RawConnection client(world, old.connection);
    if (old.connection == 0) {
      client.connect();
      client.send_request(old.version);
    }
    const EndCode code = client.wait_for_end();
    EXPECT_EQ(code.reason, EndReason::version);
    EXPECT_EQ(code.detail, 15u);
    ASSERT_EQ(world.count(SK::client_refused), 1u);
    const std::string text =
        "client speaks version " + std::to_string(old.version) + ", this server version 15";
    EXPECT_NE(world.server_events().back().text.find(text), std::string::npos);
    EXPECT_EQ(world.server().client_count(), 0u);
  }
  EXPECT_NE(describe({EndReason::version, 14}).find("server speaks version 14, this client version 15"),
            std::string::npos)
      << "vice versa";
}

TEST(Join, FullServerRefusesUntilSomeoneLeaves) {
  WorldConfig config;
  config.server.max_clients = 2;
  World world(config);
  const std::size_t a = world.add_client();
  world.add_client();
  world.run_to(0.5);
  const std::size_t late = world.add_client();
  world.run_to(1.0);
  EXPECT_EQ(world.client(late).status(), ClientStatus::refused);
  EXPECT_NE(world.client(late).refusal().find("full"), std::string::npos);
  world.client(a).leave();
  world.run_to(1.5);
  EXPECT_EQ(world.server().client_count(), 1u);
  EXPECT_EQ(world.count(SK::client_left), 1u);
  EXPECT_EQ(world.client(a).status(), ClientStatus::disconnected);
  const std::size_t next = world.add_client();
  world.run_to(2.0);
  EXPECT_EQ(world.client(next).status(), ClientStatus::joined);
}

TEST(Join, ConnectionWithoutAJoinRequestTimesOut) {
  WorldConfig config;
  config.server.join_timeout_s = 2.0;
  World world(config);
  RawConnection stranger(world);
  stranger.connect();
  world.run_to(1.9);
  EXPECT_FALSE(stranger.ended_);
  EXPECT_EQ(stranger.wait_for_end().reason, EndReason::join_timeout);
  EXPECT_LT(world.now_s(), 2.3);
  EXPECT_EQ(world.count(SK::client_refused), 1u);
}

// Anybody may have sent the garbage, so it does not end the connection.
TEST(Join, GarbageInsteadOfARequestIsCountedUntilTheTimeToJoinIsOver) {
  WorldConfig config;
  config.server.join_timeout_s = 2.0;
  World world(config);
  const std::size_t fine = world.add_client();
  scenario::Random random(7);
  for (std::size_t size : {1u, 3u, 17u, 400u}) {
    RawConnection stranger(world);
    stranger.connect();
    stranger.send(garbage(random, size));
    EXPECT_EQ(stranger.wait_for_end().reason, EndReason::join_timeout) << size;
  }
  EXPECT_EQ(world.server().stats().malformed, 4u);
  EXPECT_EQ(world.client(fine).status(), ClientStatus::joined);
}

TEST(Join, GarbageDatagramsAreCountedAndHarmless) {
  World world({.links = network("lan")});
  const EntityId id = world.add_body(Circle{});
  const std::size_t client = world.add_client();
  world.run_to(1.0);
  RawConnection stranger(world);
  stranger.connect();
  scenario::Random random(3);
  const std::uint64_t before = world.server().stats().malformed;
  for (std::size_t i = 0; i < 300; ++i) {
    // Sends garbage from a connection that has not joined, from a client, and to a client.
    stranger.send(garbage(random, 1 + random.below(60)));
    world.client_transport(client).send({1}, garbage(random, 20 + random.below(60)));
    world.tap(client).inject_payload({1}, garbage(random, 20 + random.below(1000)));
    stranger.step();
  }
  // Some name an input as their base that the server does not have.
  const std::uint64_t without_base = world.server().stats().refusals[Refusal::unknown_baseline];
  EXPECT_GE(world.server().stats().malformed - before + without_base, 590u);
  EXPECT_GE(world.client(client).stats().malformed + world.client(client).stats().datagrams_stale, 290u);
  EXPECT_EQ(world.client(client).status(), ClientStatus::joined);
  world.run_to(world.now_s() + 1.0);
  const ShownEntity* shown = world.shown(client, id);
  ASSERT_NE(shown, nullptr);
  EXPECT_LT(glm::distance(shown->shown.position, Circle{}(shown->shown_time_s).position), 0.15);
}

TEST(Join, LeavingWhileConnectingTakesEffect) {
  World world({.links = network("intercity")});
  const std::size_t client = world.add_client();
  world.client(client).leave();
  world.run_to(2.0);
  EXPECT_EQ(world.client(client).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.server().client_count(), 0u);
  EXPECT_EQ(world.count(SK::client_joined), 0u);
}

TEST(Join, ShutdownDisconnectsAllAndRefusesNewClients) {
  World world({.links = network("broadband")});
  world.add_body(Circle{});
  const std::size_t a = world.add_client();
  const std::size_t b = world.add_client();
  RawConnection waiting(world);
  waiting.connect();
  world.run_to(1.0);
  world.server().shutdown();
  const std::size_t late = world.add_client();
  EXPECT_EQ(waiting.wait_for_end().reason, EndReason::server_shutdown);
  world.run_to(3.0);
  for (const std::size_t client : {a, b}) {
    EXPECT_EQ(world.client(client).status(), ClientStatus::disconnected);
    EXPECT_EQ(world.count(client, CK::server_closed), 1u);
    EXPECT_EQ(world.count(client, CK::disconnected), 0u);
  }
  EXPECT_EQ(world.client(late).status(), ClientStatus::refused);
  EXPECT_EQ(world.server().client_count(), 0u);
}

}  // namespace
}  // namespace reckoner::test
