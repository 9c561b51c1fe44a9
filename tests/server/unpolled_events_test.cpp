// SPDX-License-Identifier: MIT
#include "harness/sim/sim_transport.hpp"
#include "server/src/server_events.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

TEST(UnpolledEvents, ServerDiscardsTheOldest) {
  constexpr std::size_t kMost = 16'384;
  constexpr std::size_t kMore = 100;
  ServerStats stats;
  ServerLog log({});
  ServerEvents events(log, stats);
  for (std::size_t i = 0; i < kMost + kMore; ++i)
    events.client_refused({}, std::to_string(i));
  EXPECT_EQ(stats.events_discarded, kMore);
  for (std::size_t i = kMore; i < kMost + kMore; ++i)
    ASSERT_EQ(events.poll()->text, std::to_string(i));
  EXPECT_FALSE(events.poll());
}

// 1000 fields change in each tick, and the game polls nothing for six seconds.
TEST(UnpolledEvents, ClientDiscardsTheOldest) {
  constexpr std::size_t kMost = 131'072;
  constexpr std::size_t kEntities = 1000;
  harness::SimNetwork network({});
  ServerConfig config;
  config.bytes_per_second = 4'000'000;
  config.archetypes[0].fields = {{"hits", IntegerField{0, 1000}}};
  auto server = Server::create(config, network.server());
  ASSERT_TRUE(server);
  auto client = Client::create({.archetypes = config.archetypes}, network.add_client(kProtocolVersion));
  ASSERT_TRUE(client);

  std::vector<EntityId> entities;
  for (std::size_t i = 0; i < kEntities; ++i)
    entities.push_back(*server->spawn(0, "", State{}));
  for (int tick = 0; tick < 360; ++tick) {
    const double now_s = server->tick_time_s(server->next_tick());
    network.advance(now_s);
    server->receive(now_s);
    for (const EntityId id : entities)
      ASSERT_TRUE(server->set_field(id, 0, std::int64_t{tick}));
    server->tick(now_s);
    client->update(now_s);
  }
  ASSERT_EQ(client->status(), ClientStatus::joined);
  const std::uint64_t discarded = client->stats().events_discarded;
  EXPECT_GT(discarded, 0u);
  const auto oldest = client->poll_event();
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->kind, ClientEvent::Kind::fields_changed) << "the events of joining were the oldest";
  std::size_t waiting = 1;
  while (client->poll_event())
    ++waiting;
  EXPECT_EQ(waiting, kMost);
  EXPECT_EQ(client->stats().events_discarded, discarded) << "nothing is discarded while the game polls";
}

}  // namespace
}  // namespace reckoner::test
