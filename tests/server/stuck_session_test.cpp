// SPDX-License-Identifier: MIT
// Sessions for which many reliable messages wait.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstddef>

#include <gtest/gtest.h>

#include <reckoner/reckoning/route.hpp>

namespace reckoner::test {
namespace {

// About 31 KB on the wire.
RouteDefinition long_road(int number) {
  CatmullRomRoute road;
  for (int i = 0; i < 1300; ++i)
    road.points.push_back({1.0 * i, 10.0 * number, i % 2 == 0 ? 0.0 : 0.5});
  return {.curve = road};
}

// Routes of more than 4 MB take a slow link half a minute. Its client stays all the same.
TEST(StuckSession, ClientThatMakesProgressIsNotStuck) {
  constexpr int kRoutes = 140;
  WorldConfig config{.links = both_ways({.latency_ms = 30.0, .rate_kbps = 2000, .queue_ms = 500})};
  config.server.follow_link = true;
  config.server.bytes_per_second = 0;
  World world(config);
  for (int i = 0; i < kRoutes; ++i)
    ASSERT_TRUE(world.server().add_route(long_road(i)));
  const std::size_t client = world.add_client();
  world.run_to(10.0);
  const auto waiting = world.server().session_stats(world.server().clients().front());
  ASSERT_TRUE(waiting);
  world.run_to(120.0);
  EXPECT_EQ(world.client(client).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 0u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 1u);
}

// However their joins lie to the times at which the server looks.
TEST(StuckSession, ClientsThatHaveJustJoinedAreNotStuck) {
  constexpr int kRoutes = 60, kClients = 20;
  World world({.links = both_ways({.latency_ms = 150.0})});
  for (int i = 0; i < kRoutes; ++i)
    ASSERT_TRUE(world.server().add_route(long_road(i)));
  for (int i = 0; i < kClients; ++i) {
    world.add_client();
    world.run_to(world.now_s() + 0.05);
  }
  world.run_to(4.0);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_joined), 20u);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 0u);
}

// A client that acknowledges no message is dropped.
TEST(StuckSession, ClientThatMakesNoProgressIsDropped) {
  constexpr int kRoutes = 40;
  World world({.links = both_ways({.latency_ms = 30.0})});
  world.add_client();
  world.run_to(2.0);
  world.tap(0).drop_sent = [](std::span<const std::byte>) { return true; };
  for (int i = 0; i < kRoutes; ++i)
    ASSERT_TRUE(world.server().add_route(long_road(i)));
  world.run_to(25.0);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 0u);
  world.run_to(45.0);
  ASSERT_EQ(world.count(ServerEvent::Kind::client_left), 1u);
  EXPECT_EQ(world.server().client_count(), 0u);
}

}  // namespace
}  // namespace reckoner::test
