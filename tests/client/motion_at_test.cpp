// SPDX-License-Identifier: MIT
// Client::motion_at(): the motion of an entity without the blend.
#include "tests/support/paths.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// The shown acceleration contains the blend, which is many times larger than the motion's own.
TEST(MotionAt, AccelerationIsThatOfTheMotionAlone) {
  const Swing path;
  World world({.links = network("mobile")});
  const EntityId id = world.add_body(path);
  world.add_client();
  double motion_mps2 = 0.0;
  double shown_mps2 = 0.0;
  double error_m = 0.0;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 2.0 || shown.empty()) return;
    const auto motion = world.client(client).motion_at(id, shown.front().shown_time_s);
    ASSERT_TRUE(motion);
    const auto debug = world.client(client).debug(id);
    ASSERT_TRUE(debug);
    error_m = std::max(error_m, glm::distance(motion->position, debug->motion.position));
    motion_mps2 = std::max(motion_mps2, double{glm::length(motion->acceleration)});
    shown_mps2 = std::max(shown_mps2, double{glm::length(shown.front().shown.acceleration)});
  };
  world.run_to(12.0);
  EXPECT_LT(error_m, 1e-9);
  EXPECT_LT(motion_mps2, 1.5 * path.acceleration());
  EXPECT_GT(shown_mps2, 3.0 * path.acceleration()) << "no blend, so the test shows nothing";
}

class MotionAtByMode : public testing::TestWithParam<PlayoutMode> {};

TEST_P(MotionAtByMode, IsTheTruthBetweenKnownMotions) {
  const Circle path;
  World world({.links = network("intercity")});
  const EntityId id = world.add_body(path);
  ClientConfig config;
  config.playout.mode = GetParam();
  world.add_client(config);
  world.run_to(5.0);
  const Client& client = world.client(0);
  for (double back_s = 0.2; back_s < 0.8; back_s += 0.01) {
    const auto motion = client.motion_at(id, 5.0 - back_s);
    ASSERT_TRUE(motion);
    EXPECT_LT(glm::distance(motion->position, path(5.0 - back_s).position), 0.08) << back_s;
  }
  // Where the entity is likely to be a moment later.
  const auto ahead = client.motion_at(id, 5.1);
  ASSERT_TRUE(ahead);
  EXPECT_LT(glm::distance(ahead->position, path(5.1).position), 0.3);
}

TEST_P(MotionAtByMode, OfAPassengerIsInTheWorld) {
  const Voyage voyage;
  World world({.links = network("lan")});
  const EntityId ship = world.add_body(voyage, {}, "ship");
  ClientConfig config;
  config.playout.mode = GetParam();
  world.add_client(config);
  world.run_to(2.0);
  const EntityId cook = *world.server().spawn(0, "cook", standing({3.0, 1.0, 2.0}), ship);
  world.run_to(5.0);
  const double time_s = 4.8;
  const auto motion = world.client(0).motion_at(cook, time_s);
  ASSERT_TRUE(motion);
  const State truth = out_of_frame(voyage(time_s), standing({3.0, 1.0, 2.0}));
  EXPECT_LT(glm::distance(motion->position, truth.position), 0.1);
  EXPECT_LT(glm::distance(motion->velocity, truth.velocity), 0.3f);
  ASSERT_TRUE(world.client(0).set_origin({100.0, 0.0, 0.0}));
  EXPECT_NEAR(world.client(0).motion_at(cook, time_s)->position.x, motion->position.x - 100.0, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(, MotionAtByMode,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

TEST(MotionAt, IsUnknownOutsideTheKnownTime) {
  World world({.links = network("lan")});
  const EntityId id = world.add_body(Circle{});
  world.add_client();
  world.run_to(4.0);
  const Client& client = world.client(0);
  EXPECT_TRUE(client.motion_at(id, 4.0));
  EXPECT_FALSE(client.motion_at(id, -100.0)) << "before its first motion";
  EXPECT_FALSE(client.motion_at({99, 0}, 4.0));
  EXPECT_FALSE(client.motion_at({}, 4.0));
  for (const double time_s : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300})
    EXPECT_FALSE(client.motion_at(id, time_s)) << time_s;
  world.remove_body(id);
  world.run_to(5.0);
  EXPECT_FALSE(client.motion_at(id, 5.0));
}

TEST(MotionAt, OfAnOwnedEntityContinuesFromItsLastMove) {
  World world({.links = network("intercity")});
  const EntityId avatar = *world.server().spawn(0, "avatar", standing({1.0, 2.0, 3.0}));
  world.add_client();
  world.run_to(1.0);
  ASSERT_TRUE(world.server().give(avatar, {1}));
  State own = standing({1.0, 2.0, 3.0});
  own.velocity = {2.0f, 0.0f, 0.0f};
  double moved_s = 0.0;
  world.on_frame = [&](std::size_t client, double, std::span<const ShownEntity>) {
    Client& c = world.client(client);
    if (!c.owned(avatar)) return;
    own.position.x += 2.0 / 60.0;
    if (c.move(avatar, own)) moved_s = c.server_time_s().value();
  };
  world.run_to(4.0);
  ASSERT_GT(moved_s, 3.0);
  const auto motion = world.client(0).motion_at(avatar, moved_s + 0.1);
  ASSERT_TRUE(motion);
  EXPECT_NEAR(motion->position.x, own.position.x + 0.2, 1e-6);
}

TEST(MotionAt, OfAPredictedEntityBeginsWithIt) {
  World world({.links = network("lan")});
  world.add_client();
  world.run_to(2.0);
  Client& client = world.updated(0);
  State shot = standing({1.0, 0.0, 0.0});
  shot.velocity = {50.0f, 0.0f, 0.0f};
  const auto id = *client.predict_spawn(0, shot, 7, 5.0);
  ASSERT_TRUE(id);
  const double now_s = client.server_time_s().value();
  const auto motion = client.motion_at(id, now_s + 0.2);
  ASSERT_TRUE(motion);
  EXPECT_NEAR(motion->position.x, 11.0, 1e-6);
  EXPECT_FALSE(client.motion_at(id, now_s - 1.0));
}

}  // namespace
}  // namespace reckoner::test
