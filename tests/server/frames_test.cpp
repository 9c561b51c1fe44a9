// SPDX-License-Identifier: MIT
// Entities in other entities' frames: the server's API and what clients receive.
#include "interest_world.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/voyage.hpp"

#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kLongestChangeS = 0.6;

void expect_same(const State& a, const State& b) {
  EXPECT_LT(glm::distance(a.position, b.position), 1e-5);
  EXPECT_LT(glm::distance(a.velocity, b.velocity), 1e-4f);
  EXPECT_LT(angle_between(a.orientation, b.orientation), 1e-5);
  EXPECT_LT(glm::distance(a.angular_velocity, b.angular_velocity), 1e-5f);
}

TEST(ServerFrames, EnteringAndLeavingKeepsTheWorldState) {
  World world({});
  Server& server = world.server();
  const Voyage ship_path;
  const EntityId ship = *server.spawn(0, "ship", ship_path(3.0));
  State walker_state = Circle{.radius_m = 4.0, .turn_rps = 1.5}(0.7);
  walker_state.position += ship_path(3.0).position;
  const EntityId walker = *server.spawn(0, "walker", walker_state);
  ASSERT_TRUE(server.enter_frame(walker, ship));
  EXPECT_EQ(server.frame_of(walker), ship);
  expect_same(*server.in_world(walker), walker_state);
  ASSERT_TRUE(server.enter_frame(walker, {}));
  EXPECT_EQ(server.frame_of(walker), EntityId{});
  expect_same(*server.in_world(walker), walker_state);
}

TEST(ServerFrames, MoveTakesCoordinatesOfTheFrame) {
  World world({});
  Server& server = world.server();
  const Voyage ship_path;
  const EntityId ship = *server.spawn(0, "ship", ship_path(3.0));
  const EntityId walker = *server.spawn(0, "walker", standing({3.0, 1.0, 2.0}), ship);
  ASSERT_TRUE(walker);
  EXPECT_EQ(server.frame_of(walker), ship);
  expect_same(*server.in_world(walker), out_of_frame(ship_path(3.0), standing({3.0, 1.0, 2.0})));
  ASSERT_TRUE(server.move(walker, standing({4.0, 1.0, 2.0})));
  ASSERT_TRUE(server.move(ship, ship_path(3.1)));
  expect_same(*server.in_world(walker), out_of_frame(ship_path(3.1), standing({4.0, 1.0, 2.0})));
  server.tick(0.0);
  const auto motion = server.published(walker);
  ASSERT_TRUE(motion);
  EXPECT_EQ(motion->frame, frame_of(ship));
  EXPECT_LT(glm::distance(motion->state.position, glm::dvec3(4.0, 1.0, 2.0)), 0.02);
}

TEST(ServerFrames, RefusesInvalidFrames) {
  WorldConfig config;
  config.server.archetypes[0].max_speed_mps = 20.0;
  World world(config);
  Server& server = world.server();
  std::vector<EntityId> chain{*server.spawn(0, "0", State{})};
  for (int i = 1; i <= kMaxFrameDepth; ++i) {
    chain.push_back(*server.spawn(0, "n", standing({1.0, 0.0, 0.0}), chain.back()));
    ASSERT_TRUE(chain.back());
  }
  EXPECT_FALSE(server.spawn(0, "too deep", State{}, chain.back()));
  const EntityId other = *server.spawn(0, "other", State{});
  EXPECT_EQ(server.enter_frame(other, chain.back()).error(), CallError::too_deep);
  EXPECT_EQ(server.enter_frame(chain[0], other).error(), CallError::too_deep);
  EXPECT_EQ(server.enter_frame(chain[1], chain[3]).error(), CallError::circle);
  EXPECT_EQ(server.enter_frame(chain[1], chain[1]).error(), CallError::circle);
  EXPECT_EQ(server.enter_frame(other, {999, 1}).error(), CallError::unknown_frame);
  EXPECT_EQ(server.enter_frame({999, 1}, other).error(), CallError::unknown_entity);
  EXPECT_FALSE(server.spawn(0, "nowhere", State{}, {999, 1}));
  // The speed limit applies to the speed within the frame. An entity at rest moves at 19 m/s relative to the
  // ship `east`, which is allowed. The ship `west` moves at 38 m/s relative to `east`, which is too fast.
  State there = standing({0.0, 5.0, 0.0});
  there.velocity.x = 19.0f;
  State back = there;
  back.velocity.x = -19.0f;
  const EntityId east = *server.spawn(0, "east", there);
  const EntityId west = *server.spawn(0, "west", back);
  EXPECT_EQ(server.enter_frame(west, east).error(), CallError::too_fast);
  EXPECT_TRUE(server.enter_frame(other, east));
  EXPECT_EQ(server.frame_of(west), EntityId{});
}

TEST(ServerFrames, EntityMovesToTheOuterFrameWhenItsFrameEnds) {
  World world({});
  Server& server = world.server();
  const Voyage ship_path;
  const EntityId ship = *server.spawn(0, "ship", ship_path(1.0));
  const EntityId tank = *server.spawn(0, "tank", standing({2.0, 0.0, 0.0}), ship);
  const EntityId gunner = *server.spawn(0, "gunner", standing({0.0, 1.0, 0.0}), tank);
  const State before = *server.in_world(gunner);
  ASSERT_TRUE(server.despawn(tank));
  EXPECT_EQ(server.frame_of(gunner), ship);
  expect_same(*server.in_world(gunner), before);
  ASSERT_TRUE(server.despawn(ship));
  EXPECT_EQ(server.frame_of(gunner), EntityId{});
  expect_same(*server.in_world(gunner), before);
  EXPECT_EQ(server.entity_count(), 1u);
}

TEST(ServerFrames, EntityTooFastForTheOuterFrameStopsThere) {
  WorldConfig config;
  config.server.archetypes = {Archetype{}, Archetype{.name = "slow", .max_speed_mps = 5.0}};
  World world(config);
  Server& server = world.server();
  State fast;
  fast.velocity.x = 30.0f;
  const EntityId train = *server.spawn(0, "train", fast);
  const EntityId rider = *server.spawn(1, "rider", standing({1.0, 0.0, 0.0}), train);
  EXPECT_EQ(server.enter_frame(rider, {}).error(), CallError::too_fast);
  ASSERT_TRUE(server.despawn(train));
  ASSERT_TRUE(server.in_world(rider));
  EXPECT_EQ(server.in_world(rider)->velocity, glm::vec3{0.0f});
  EXPECT_LT(glm::distance(server.in_world(rider)->position, glm::dvec3(1.0, 0.0, 0.0)), 1e-6);
}

TEST(ServerFrames, RelevantEntityMakesItsFramesRelevant) {
  World world(near_world());
  const ClientId client = join(world);
  // The ship's centre is out of range. A gunner in a tank on the ship is within range.
  const EntityId ship = world.add_body(Still{{kRadiusM + 50.0, 0.0, 0.0}});
  const EntityId tank = *world.server().spawn(0, "tank", standing({20.0, 0.0, 0.0}), ship);
  const EntityId gunner = *world.server().spawn(0, "gunner", standing({-75.0, 0.0, 0.0}), tank);
  ASSERT_TRUE(world.server().set_view(client, {}));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_TRUE(sees(world, 0, gunner));
  EXPECT_TRUE(sees(world, 0, tank));
  EXPECT_TRUE(sees(world, 0, ship));
  ASSERT_TRUE(world.shown(0, gunner));
  EXPECT_EQ(world.shown(0, gunner)->frame, tank);
  EXPECT_LT(std::abs(world.shown(0, gunner)->shown.position.x - (kRadiusM - 5.0)), 0.1);
  // The gunner leaves the range, and all three disappear.
  ASSERT_TRUE(world.server().move(gunner, standing({0.0, 0.0, 0.0})));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_FALSE(sees(world, 0, gunner));
  EXPECT_FALSE(sees(world, 0, tank));
  EXPECT_FALSE(sees(world, 0, ship));
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
}

TEST(ServerFrames, EntityThatEntersAHiddenFrameMakesItRelevant) {
  World world(near_world());
  const ClientId client = join(world);
  const EntityId ship = world.add_body(Still{{kRadiusM + 50.0, 0.0, 0.0}});
  const EntityId walker = *world.server().spawn(0, "walker", standing({kRadiusM - 20.0, 0.0, 0.0}));
  ASSERT_TRUE(world.server().set_view(client, {}));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_FALSE(sees(world, 0, ship));
  ASSERT_TRUE(world.server().enter_frame(walker, ship));
  world.before_tick = [&](double) { (void)world.server().move(walker, standing({-70.0, 0.0, 0.0})); };
  world.run_to(world.now_s() + kLongestChangeS);
  ASSERT_TRUE(sees(world, 0, ship));
  ASSERT_TRUE(world.shown(0, walker));
  EXPECT_EQ(world.shown(0, walker)->frame, ship);
  EXPECT_EQ(world.client(0).stats().unknown_references, 0u);
}

TEST(ServerFrames, HiddenFrameHidesTheEntitiesInIt) {
  World world(near_world());
  const ClientId client = join(world);
  const EntityId ship = world.add_body(Still{{10.0, 0.0, 0.0}});
  const EntityId tank = *world.server().spawn(0, "tank", standing({1.0, 0.0, 0.0}), ship);
  const EntityId gunner = *world.server().spawn(0, "gunner", standing({1.0, 0.0, 0.0}), tank);
  ASSERT_TRUE(world.server().set_view(client, {}));
  ASSERT_TRUE(world.server().set_relevance(gunner, Relevance::always));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_TRUE(sees(world, 0, gunner));
  ASSERT_TRUE(world.server().set_relevance(client, ship, Relevance::never));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_FALSE(sees(world, 0, ship));
  EXPECT_FALSE(sees(world, 0, gunner));
  ASSERT_TRUE(world.server().set_relevance(client, ship, Relevance::by_distance));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_TRUE(sees(world, 0, gunner));
  ASSERT_TRUE(world.server().set_groups(client, 1));
  ASSERT_TRUE(world.server().set_groups(ship, 2));
  world.run_to(world.now_s() + kLongestChangeS);
  EXPECT_FALSE(sees(world, 0, tank));
  EXPECT_FALSE(sees(world, 0, gunner));
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
}

TEST(ServerFrames, RestingPassengerAppearsWhenItsFrameComesIntoRange) {
  World world(near_world());
  const ClientId client = join(world);
  const double start_s = world.now_s();
  const EntityId ship = world.add_body(
      Straight{.start = {kRadiusM + 30.0 + 10.0 * start_s, 0.0, 0.0}, .velocity = {-10.0f, 0.0f, 0.0f}});
  const EntityId passenger = *world.server().spawn(0, "passenger", standing({0.0, 3.0, 0.0}), ship);
  ASSERT_TRUE(world.server().set_view(client, {}));
  world.run_to(start_s + 2.0);
  EXPECT_FALSE(sees(world, 0, passenger));
  world.run_to(start_s + 4.5);  // longer than the passenger takes to fall asleep
  EXPECT_TRUE(sees(world, 0, passenger));
}

// The rotation threshold of a frame depends on how far a rotation displaces the entities in the frame.
TEST(ServerFrames, RotationIsFinerWithAPassengerFarFromTheCentre) {
  const auto publishes = [](bool passenger) {
    World world({});
    const EntityId ship = world.add_body([](double t) {
      State s;
      const double heading = 0.03 * std::sin(1.5 * t);
      s.orientation = {static_cast<float>(std::cos(0.5 * heading)), 0.0f, 0.0f,
                       static_cast<float>(std::sin(0.5 * heading))};
      s.angular_velocity.z = static_cast<float>(0.045 * std::cos(1.5 * t));
      return s;
    });
    if (passenger) (void)world.server().spawn(0, "passenger", standing({20.0, 0.0, 0.0}), ship);
    world.run_to(10.0);
    return world.server().stats().publishes;
  };
  EXPECT_GT(publishes(true), 3 * publishes(false));
}

TEST(ServerFrames, OriginOfTheGameMayShift) {
  World world({});
  Server& server = world.server();
  EXPECT_FALSE(server.set_origin({std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0}));
  const EntityId rock = *server.spawn(0, "rock", standing({1000.0, 0.0, 0.0}));
  const EntityId rider = *server.spawn(0, "rider", standing({1.0, 0.0, 0.0}), rock);
  server.tick(0.0);
  const std::uint64_t published = server.stats().publishes;
  ASSERT_TRUE(server.set_origin({900.0, 0.0, 0.0}));
  EXPECT_EQ(server.in_world(rock)->position, (glm::dvec3{100.0, 0.0, 0.0}));
  EXPECT_EQ(server.in_world(rider)->position, (glm::dvec3{101.0, 0.0, 0.0}));
  ASSERT_TRUE(server.move(rock, standing({100.0, 0.0, 0.0})));
  ASSERT_TRUE(server.move(rider, standing({1.0, 0.0, 0.0})));
  for (int i = 1; i < 10; ++i)
    server.tick(i / 60.0);
  EXPECT_EQ(server.stats().publishes, published);  // nothing has moved
  EXPECT_NEAR(server.published(rock)->state.position.x, 1000.0, 0.01);
}

}  // namespace
}  // namespace reckoner::test
