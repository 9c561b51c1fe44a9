// SPDX-License-Identifier: MIT
// A client leaves: the server still gets the reliable messages that the game sent before.
#include "net/src/messages/messages.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr std::uint64_t kLeaveSeeds = 40;
constexpr double kLongestS = 10.0;  // Client::leave()

struct LossyLink {
  const char* name;
  harness::LinkOptions options;
};

// A client that has joined, and the messages that its server receives.
class Leaving {
 public:
  Leaving(const harness::LinkOptions& link, std::uint64_t seed, bool dials = false)
      : world(config(link, seed)) {
    dials ? world.add_dialing_client() : world.add_client();
    world.after_tick = [this](double) { poll(); };
    while (client().status() != ClientStatus::joined && world.now_s() < 60.0)
      world.run_to(world.now_s() + 0.5);
    EXPECT_EQ(client().status(), ClientStatus::joined);
    world.run_to(world.now_s() + 1.0);
  }

  Client& client() { return world.client(0); }
  void send(std::uint32_t messages, std::size_t bytes) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      Bytes text(bytes);
      std::memcpy(text.data(), &sent, sizeof sent);
      ++sent;
      ASSERT_TRUE(client().send(text, Delivery::reliable));
    }
  }
  // Runs until the client has ended. Returns after how long that was.
  double wait() {
    const double from_s = world.now_s();
    while (client().status() != ClientStatus::disconnected && world.now_s() < from_s + 2.0 * kLongestS)
      world.run_to(world.now_s() + 0.01);
    EXPECT_EQ(client().status(), ClientStatus::disconnected);
    const double lasted_s = world.now_s() - from_s;
    world.run_to(world.now_s() + 0.1);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::disconnected), 1u);
    return lasted_s;
  }

  World world;
  std::uint32_t sent = 0, received = 0;
  std::uint32_t received_before_it_left = 0;

 private:
  static WorldConfig config(const harness::LinkOptions& link, std::uint64_t seed) {
    WorldConfig config;
    config.links = both_ways(link);
    config.seed = seed;
    config.silence_timeout_s = 60.0;
    config.server.client_messages_per_second = 0.0;
    config.server.client_message_bytes_per_second = 0;
    return config;
  }
  void poll() {
    while (const auto message = world.server().poll_message()) {
      std::uint32_t number = 0;
      std::memcpy(&number, message->payload.data(), sizeof number);
      EXPECT_EQ(number, received++) << "in order";
    }
    if (world.count(ServerEvent::Kind::client_left) == 0) received_before_it_left = received;
  }
};

class LeavingClients : public testing::TestWithParam<LossyLink> {};

TEST_P(LeavingClients, AllMessagesArriveBeforeTheServerReportsThatItLeft) {
  double longest_s = 0.0;
  for (std::uint64_t seed = 1; seed <= kLeaveSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Leaving leaving(GetParam().options, seed, seed % 2 == 0);
    const std::uint32_t messages = seed % 4 == 0 ? 700 : 20;  // 700 are more than may be in flight at a time
    leaving.send(messages, 40);
    leaving.client().leave();
    EXPECT_FALSE(leaving.client().send(Bytes(4), Delivery::reliable)) << "it has left";
    EXPECT_FALSE(leaving.client().send(Bytes(4), Delivery::unreliable));
    longest_s = std::max(longest_s, leaving.wait());
    leaving.world.run_to(leaving.world.now_s() + 2.0);
    EXPECT_EQ(leaving.received, messages);
    EXPECT_EQ(leaving.received_before_it_left, messages);
    EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_left), 1u);
    EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_lost), 0u);
    EXPECT_EQ(leaving.world.server().client_count(), 0u);
    EXPECT_EQ(leaving.world.server().stats().malformed, 0u);
  }
  RecordProperty("longest_s", std::to_string(longest_s));
  EXPECT_LT(longest_s, kLongestS);
}

INSTANTIATE_TEST_SUITE_P(
    , LeavingClients,
    testing::Values(LossyLink{"Loss", {.latency_ms = 40.0, .jitter_ms = 5.0, .loss_percent = 20.0}},
                    LossyLink{"Bursts",
                              {.latency_ms = 40.0, .jitter_ms = 5.0, .loss_percent = 20.0, .burst = 6.0}}),
    [](const auto& link) { return std::string(link.param.name); });

TEST(Leaving, ClientWithNothingToSendEndsAtOnce) {
  for (const bool dials : {false, true}) {
    Leaving leaving({.latency_ms = 40.0}, 1, dials);
    leaving.send(3, 40);
    leaving.world.run_to(leaving.world.now_s() + 1.0);
    ASSERT_EQ(leaving.received, 3u);
    leaving.client().leave();
    // The end of the connection takes a round trip.
    EXPECT_LT(leaving.wait(), 0.2);
    EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_left), 1u);
  }
}

// The server's acknowledgements are lost, so the client sends for as long as it may.
TEST(Leaving, ClientThatHearsNothingGivesUpInTime) {
  Leaving leaving({.latency_ms = 40.0}, 1);
  leaving.world.tap(0).filter = [](const TransportEvent& event) {
    return event.kind != TransportEvent::Kind::received;
  };
  leaving.send(5, 40);
  leaving.client().leave();
  const double lasted_s = leaving.wait();
  EXPECT_GT(lasted_s, kLongestS - 0.1);
  EXPECT_LT(lasted_s, kLongestS + 0.5);
  EXPECT_EQ(leaving.received, 5u);
  EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_left), 1u);
}

// A game that does not wait loses messages, but the server does not take its client for a lost one.
TEST(Leaving, ClientThatIsDestroyedHasLeft) {
  Leaving leaving({.latency_ms = 40.0}, 1);
  leaving.send(3, 40);
  leaving.client().leave();
  ASSERT_EQ(leaving.client().status(), ClientStatus::joined) << "it has messages to send";
  leaving.world.destroy_client(0);
  leaving.world.run_to(leaving.world.now_s() + 1.0);
  EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_left), 1u);
  EXPECT_EQ(leaving.world.count(ServerEvent::Kind::client_lost), 0u);
}

// No connection: there is nobody to send anything to.
TEST(Leaving, ClientThatReconnectsEndsAtOnce) {
  WorldConfig config{.links = both_ways({.latency_ms = 40.0})};
  config.silence_timeout_s = 5.0;
  World world(config);
  world.add_dialing_client();
  world.run_to(2.0);
  world.kill_server();
  world.run_to(15.0);
  ASSERT_EQ(world.client(0).status(), ClientStatus::reconnecting);
  ASSERT_TRUE(world.client(0).send(Bytes(10), Delivery::reliable));
  world.client(0).leave();
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_FALSE(world.client(0).send(Bytes(10), Delivery::reliable));
}

}  // namespace
}  // namespace reckoner::test
