// SPDX-License-Identifier: MIT
// Sessions over bad networks, over each row of NetworkTransport.
#include "socket_world.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using SK = ServerEvent::Kind;
using CK = ClientEvent::Kind;

// Bytes of message number `number` in one direction. Both ends can tell each message from all others.
Bytes numbered(std::size_t number, bool up, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 31 + i / 256 + number * 7 + (up ? 101 : 0)) & 0xFF);
  return bytes;
}

/// Reliable messages in both directions, and what must arrive.
class Exchange {
 public:
  Exchange(SocketWorld& world, SocketPlayer& player, ClientId id, std::size_t bytes)
      : world_(world), player_(player), id_(id), bytes_(bytes) {}

  void send() {
    EXPECT_TRUE(player_.client->send(numbered(sent_, true, bytes_), Delivery::reliable)) << sent_;
    EXPECT_TRUE(world_.server().send(id_, numbered(sent_, false, bytes_), Delivery::reliable)) << sent_;
    ++sent_;
  }
  [[nodiscard]] bool has_arrived() const { return up().size() >= sent_ && player_.messages.size() >= sent_; }
  /// Expects each message once, in the order of sending.
  void expect_all() const {
    ASSERT_EQ(up().size(), sent_);
    ASSERT_EQ(player_.messages.size(), sent_);
    for (std::size_t i = 0; i < sent_; ++i) {
      EXPECT_EQ(up()[i], numbered(i, true, bytes_)) << i;
      EXPECT_EQ(player_.messages[i], numbered(i, false, bytes_)) << i;
    }
  }

 private:
  [[nodiscard]] const std::vector<Bytes>& up() const { return world_.messages_of(id_); }

  SocketWorld& world_;
  SocketPlayer& player_;
  ClientId id_;
  std::size_t bytes_, sent_ = 0;
};

class TransportNetwork : public testing::TestWithParam<TransportRow> {};
INSTANTIATE_TEST_SUITE_P(, TransportNetwork, testing::ValuesIn(kTransportRows), name_of_row);

TEST_P(TransportNetwork, EntitiesAreShownWhereTheyAre) {
  struct Network {
    const char* name;
    harness::LinkOptions links;
    double tolerance_m;
  };
  const Network networks[] = {{"intercity", *harness::find_network("intercity"), 0.2},
                              {"mobile", *harness::find_network("mobile"), 0.3},
                              {"a fifth lost", kFifthLost, 0.2}};
  SocketWorld world(GetParam());
  const Circle path;
  const EntityId body = world.add_body(path);
  std::map<const SocketPlayer*, Sight> sights;
  for (const Network& network : networks) {
    const SocketPlayer& player = world.dial(world.add_network(network.links));
    sights.emplace(&player, Sight(body, path, network.tolerance_m));
  }
  ASSERT_TRUE(world.until(
      [&] { return world.all([&](const SocketPlayer& each) { return each.find(body) != nullptr; }); }));
  world.pass(0.7);  // for the clocks and the first repairs
  world.on_frame = [&](const SocketPlayer& player) { sights.at(&player).add(player); };
  world.pass(1.5);
  for (std::size_t i = 0; i < std::size(networks); ++i) {
    SCOPED_TRACE(networks[i].name);
    const SocketPlayer& player = *world.players()[i];
    const Sight& sight = sights.at(&player);
    EXPECT_TRUE(player.has_joined());
    EXPECT_GT(sight.frames(), 30u);
    EXPECT_LT(sight.wrong(), sight.frames() / 10);
    EXPECT_GT(sight.distance_m(), 0.9 * path.speed());
    EXPECT_EQ(player.client->stats().malformed, 0u);
    EXPECT_EQ(player.client->stats().connections_lost, 0u);
  }
  EXPECT_EQ(world.server().stats().malformed, 0u);
}

TEST_P(TransportNetwork, LargeMessagesArriveInOrder) {
  constexpr std::size_t kMessages = 4;
  SocketWorldConfig config;
  config.server.client_message_bytes_per_second = 0;  // only the network limits the client
  SocketWorld world(GetParam(), config);
  SocketPlayer& player = world.join(world.add_network(kGoodLink));
  world.set_networks(kFifthLost);
  Exchange exchange(world, player, world.newest_client(), kMaxReliableBytes);
  for (std::size_t i = 0; i < kMessages; ++i)
    exchange.send();
  EXPECT_TRUE(world.until([&] { return exchange.has_arrived(); }));
  exchange.expect_all();
}

TEST_P(TransportNetwork, AKickedPlayerLearnsTheReason) {
  constexpr std::size_t kPlayers = 8;
  SocketWorld world(GetParam());
  world.join_all(kPlayers, world.add_network(kGoodLink));
  world.set_networks(kFifthLost);
  std::vector<std::string> expected, heard;
  const std::vector<ClientId> clients(world.server().clients().begin(), world.server().clients().end());
  for (const ClientId client : clients) {
    const std::string reason = "rule " + std::to_string(client.value);
    expected.push_back("kicked by the server: " + reason);
    EXPECT_TRUE(world.server().kick(client, reason));
  }
  EXPECT_TRUE(world.until([&] { return world.all(&SocketPlayer::is_over); }));
  for (const auto& player : world.players()) {
    EXPECT_EQ(player->status(), ClientStatus::refused);
    heard.push_back(player->client->refusal());
  }
  std::ranges::sort(expected);
  std::ranges::sort(heard);
  EXPECT_EQ(heard, expected);
  EXPECT_EQ(world.count(SK::client_left), kPlayers);
}

// The network swallows everything, until both ends have given up the connection. The client then dials again,
// from another port.
TEST_P(TransportNetwork, AClientResumesAndLosesNoMessage) {
  SocketWorldConfig config;
  config.limits.silence_s = 1.0;
  SocketWorld world(GetParam(), config);
  const Circle path;
  const EntityId body = world.add_body(path);
  ClientConfig client;
  client.reconnect = {.silence_s = 1.0, .first_wait_s = 0.1, .most_wait_s = 0.2, .attempt_s = 0.5};
  SocketPlayer& player = world.join(world.add_network(kGoodLink), client);
  const ClientId id = world.newest_client();
  const PeerId before = world.server().peer(id);
  ASSERT_TRUE(world.until([&] { return player.find(body) != nullptr; }));

  Exchange exchange(world, player, id, 1000);
  const auto send_for = [&](double seconds) {
    for (const double end_s = world.now_s() + seconds; world.now_s() < end_s; world.pass(0.05))
      exchange.send();
  };
  send_for(0.3);
  world.set_networks(kAllLost);
  exchange.send();  // neither end knows yet
  ASSERT_TRUE(world.until(
      [&] { return player.status() == ClientStatus::reconnecting && world.count(SK::client_lost) == 1; }));
  EXPECT_FALSE(world.server().peer(id));
  send_for(0.3);
  world.set_networks(kGoodLink);
  ASSERT_TRUE(world.until([&] { return player.has_joined() && world.count(SK::client_back) == 1; }));
  EXPECT_NE(world.server().peer(id), before);
  send_for(0.3);
  EXPECT_TRUE(world.until([&] { return exchange.has_arrived(); }));
  exchange.expect_all();
  EXPECT_EQ(player.count(CK::lost), 1u);
  EXPECT_EQ(player.count(CK::resumed), 1u);
  EXPECT_EQ(player.count(CK::restarted), 0u);
  EXPECT_EQ(player.count(CK::despawned), 0u);
  EXPECT_EQ(player.client->stats().messages_abandoned, 0u);
  EXPECT_EQ(world.count(SK::client_joined), 1u);

  Sight sight(body, path, 0.5);
  world.on_frame = [&](const SocketPlayer& each) { sight.add(each); };
  world.pass(0.7);
  EXPECT_LT(sight.wrong(), sight.frames() / 5);
  EXPECT_GT(sight.distance_m(), 0.35 * path.speed());
}

}  // namespace
}  // namespace reckoner::test
