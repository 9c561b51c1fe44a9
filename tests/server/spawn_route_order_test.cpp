// SPDX-License-Identifier: MIT
// Messages wait for spawns, and spawns for routes. None of them waits for ever.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstddef>

#include <gtest/gtest.h>

#include <reckoner/reckoning/route.hpp>

namespace reckoner::test {
namespace {

RouteDefinition road() {
  RouteDefinition road;
  road.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {100.0, 0.0, 0.0}}};
  return road;
}

class SpawnsAndRoutes : public testing::Test {
 protected:
  SpawnsAndRoutes() {
    world.add_client();
    world.run_to(1.0);
  }
  Server& server() { return world.server(); }
  ClientId client() { return server().clients().front(); }
  void send() { ASSERT_TRUE(server().send(client(), Bytes(20), Delivery::reliable)); }
  void expect_all(EntityId entity, std::size_t messages) {
    world.run_to(world.now_s() + 1.0);
    EXPECT_NE(world.shown(0, entity), nullptr);
    std::size_t received = 0;
    while (world.client(0).poll_message())
      ++received;
    EXPECT_EQ(received, messages);
  }

  World world{{.links = both_ways({.latency_ms = 60.0})}};
};

// The first datagrams with the spawn are lost. Then the entity goes along a route that the client does not
// have.
TEST_F(SpawnsAndRoutes, LostSpawnOfAnEntityThatNowFollowsARoute) {
  world.tap(0).filter = [](const TransportEvent& event) {
    BitReader reader{event.payload};
    return event.kind != TransportEvent::Kind::received || !read_server_header(reader).has_spawns;
  };
  const EntityId entity = *server().spawn(0, "cart", State{});
  world.run_to(1.1);
  send();
  const auto route = server().add_route(road());
  ASSERT_TRUE(route);
  ASSERT_TRUE(server().follow(entity, *route));
  world.run_to(1.15);
  send();
  world.tap(0).filter = nullptr;
  expect_all(entity, 2);
}

// The entity becomes irrelevant and relevant again while a message is in flight, and then follows a new
// route.
TEST_F(SpawnsAndRoutes, ReturningEntityThatNowFollowsARoute) {
  const EntityId entity = *server().spawn(0, "cart", State{});
  world.run_to(2.0);
  send();
  ASSERT_TRUE(server().set_relevance(client(), entity, Relevance::never));
  world.run_to(2.02);
  ASSERT_TRUE(server().set_relevance(client(), entity, Relevance::always));
  world.run_to(2.05);
  send();
  const auto route = server().add_route(road());
  ASSERT_TRUE(route);
  ASSERT_TRUE(server().follow(entity, *route));
  world.run_to(2.08);
  send();
  expect_all(entity, 3);
}

// The frame of a new entity goes along a new route, and then along another one.
TEST_F(SpawnsAndRoutes, PassengerOfAnEntityThatChangesItsRoute) {
  const EntityId frame = *server().spawn(0, "cart", State{});
  const auto first = server().add_route(road());
  ASSERT_TRUE(first);
  ASSERT_TRUE(server().follow(frame, *first));
  const EntityId passenger = *server().spawn(0, "passenger", State{}, frame);
  world.run_to(1.03);
  send();
  const auto second = server().add_route(road());
  ASSERT_TRUE(second);
  ASSERT_TRUE(server().follow(frame, *second));
  world.run_to(1.06);
  send();
  expect_all(passenger, 2);
  EXPECT_NE(world.shown(0, frame), nullptr);
}

}  // namespace
}  // namespace reckoner::test
