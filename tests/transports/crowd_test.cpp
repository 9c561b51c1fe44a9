// SPDX-License-Identifier: MIT
// A thousand clients at once, over each row of NetworkTransport.
#include "harness/stress/load/recording/resource_use.hpp"
#include "socket_world.hpp"
#include "tests/support/paths.hpp"

#include <cstddef>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using SK = ServerEvent::Kind;

constexpr std::size_t kThousand = 1000;
constexpr std::size_t kBatch = 50;  // clients that start to join at once

class TransportCrowd : public testing::TestWithParam<TransportRow> {};
INSTANTIATE_TEST_SUITE_P(, TransportCrowd, testing::ValuesIn(kTransportRows), name_of_row);

TEST_P(TransportCrowd, AThousandClientsJoinSeeAnEntityAndLeave) {
  ASSERT_EQ(harness::raise_open_file_limit(harness::kSocketsPerClient * kThousand), "");
  SocketWorldConfig config;
  config.server.max_clients = kThousand;
  config.server.tick_rate_hz = 20.0;
  // All clients have one address here.
  config.limits.address_datagrams_per_second = 0.0;
  config.limits.address_bytes_per_second = 0.0;
  SocketWorld world(GetParam(), config);
  const EntityId body = world.add_body(Circle{});
  ClientConfig client;
  client.ack_interval_s = 0.1;
  while (world.players().size() < kThousand) {
    for (std::size_t i = 0; i < kBatch; ++i)
      world.dial(world.port(), client);
    world.turn();
  }
  ASSERT_TRUE(world.until(
      [&] { return world.all([&](const SocketPlayer& each) { return each.find(body) != nullptr; }); }));
  EXPECT_EQ(world.server().client_count(), kThousand);
  EXPECT_EQ(world.count(SK::client_joined), kThousand);
  for (const auto& player : world.players())
    player->client->leave();
  EXPECT_TRUE(world.until([&] { return world.all(&SocketPlayer::is_over); }));
  EXPECT_TRUE(world.until([&] { return world.count(SK::client_left) == kThousand; }));
  EXPECT_EQ(world.server().client_count(), 0u);
  EXPECT_EQ(world.count(SK::client_lost), 0u);
  EXPECT_EQ(world.server().stats().malformed, 0u);
}

}  // namespace
}  // namespace reckoner::test
