// SPDX-License-Identifier: MIT
// The server's debug data of an entity agrees with the true and the published motion.
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {
namespace {

TEST(EntityDebug, AgreesWithThePublishedMotion) {
  World world({});
  const Circle path{};
  const EntityId id = world.add_body(path);
  EXPECT_FALSE(world.server().debug(id)) << "no tick has been";
  world.add_client();
  int looks = 0;
  double oldest_s = 0.0;
  world.after_tick = [&](double time_s) {
    const auto debug = world.server().debug(id);
    const auto motion = world.server().published(id);
    ASSERT_TRUE(debug && motion);
    const State truth = path(time_s);
    const State published = state_at(*motion, time_s);
    EXPECT_EQ(debug->truth.position, truth.position);
    EXPECT_EQ(debug->published.position, published.position);
    EXPECT_EQ(debug->age_s, time_s - motion->time_s);
    EXPECT_EQ(debug->error_m, glm::distance(truth.position, published.position));
    EXPECT_EQ(debug->error_rad, angle_between(truth.orientation, published.orientation));
    EXPECT_EQ(debug->threshold_m, 0.05);
    EXPECT_LE(debug->error_m, debug->threshold_m);
    oldest_s = std::max(oldest_s, debug->age_s);
    ++looks;
  };
  world.run_to(3.0);
  EXPECT_GT(looks, 170);
  EXPECT_GT(oldest_s, 0.05);
  EXPECT_EQ(world.server().debug(id)->clients, 1u);
  EXPECT_FALSE(world.server().debug(EntityId{}));
  world.after_tick = nullptr;
  world.remove_body(id);
  EXPECT_FALSE(world.server().debug(id));
}

TEST(EntityDebug, ThresholdIncludesTheRiseUnderAnUpdateBudget) {
  World world({.server = {.updates_per_second = 1.0}});
  const EntityId id = world.add_body(Swing{});
  world.add_client();
  world.run_to(10.0);
  const auto debug = world.server().debug(id);
  ASSERT_TRUE(debug);
  EXPECT_GT(debug->threshold_m, 0.1) << "one update a second is too few for 5 cm";
  EXPECT_NEAR(debug->threshold_m / 0.05, debug->threshold_rad / 0.05, 1e-9);
}

TEST(EntityDebug, EntityInAFrameIsReportedInWorldCoordinates) {
  World world({});
  const Circle ship{.radius_m = 30.0, .turn_rps = 0.5};
  const Circle walk{.radius_m = 2.0};
  const EntityId deck = world.add_body(ship);
  const EntityId walker = world.add_body(walk);
  world.add_client();
  world.run_to(1.0);
  const State aboard = out_of_frame(ship(1.0), walk(1.0));
  ASSERT_TRUE(world.server().enter_frame(walker, deck));
  world.after_tick = [&](double time_s) {
    const auto debug = world.server().debug(walker);
    ASSERT_TRUE(debug);
    EXPECT_LT(glm::distance(debug->truth.position, out_of_frame(ship(time_s), walk(time_s)).position), 1e-9);
    EXPECT_LE(debug->error_m, debug->threshold_m) << "its own error, not the ship's";
    EXPECT_EQ(debug->frame, deck);
  };
  world.run_to(4.0);
  world.after_tick = nullptr;
  const State before = world.server().debug(walker)->truth;
  ASSERT_TRUE(world.server().set_origin({100.0, 0.0, 0.0}));
  EXPECT_LT(glm::distance(world.server().debug(walker)->truth.position,
                          before.position - glm::dvec3(100.0, 0.0, 0.0)),
            1e-9);
  EXPECT_GT(glm::length(aboard.position), 0.0);
}

TEST(PublishCauses, AddUpToAllPublishes) {
  World world({});
  const EntityId id = world.add_body(Swing{}, {1.0, 2.0});
  const EntityId deck = world.add_body(Still{});
  world.add_client();
  world.run_to(3.0);
  ASSERT_TRUE(world.server().enter_frame(id, deck));
  world.run_to(4.0);
  const ServerStats& s = world.server().stats();
  const PublishCauses& c = s.published_for;
  EXPECT_EQ(c.first + c.owner + c.teleport + c.frame + c.route + c.due, s.publishes);
  EXPECT_EQ(c.first, 2u);
  EXPECT_EQ(c.teleport, 2u);
  EXPECT_EQ(c.frame, 1u);
  EXPECT_EQ(c.owner + c.route, 0u);
  EXPECT_GT(c.due, 10u);
}

}  // namespace
}  // namespace reckoner::test
