// SPDX-License-Identifier: MIT
// What a client says of an entity for drawing is what it draws, and what it draws it from.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

class ShownDebugIn : public testing::TestWithParam<PlayoutMode> {};

TEST_P(ShownDebugIn, EveryFrameItAgreesWithWhatIsShown) {
  World world({.links = network("intercity")});
  const EntityId id = world.add_body(Swing{});
  ClientConfig config;
  config.playout.mode = GetParam();
  world.add_client(config);
  int frames = 0;
  int blending = 0;
  double largest_m = 0.0;
  world.on_frame = [&](std::size_t client, double, std::span<const ShownEntity> shown) {
    const auto debug = world.client(client).debug(id);
    ASSERT_EQ(debug.has_value(), !shown.empty());
    if (!debug) return;
    const ShownEntity& drawn = shown.front();
    EXPECT_EQ(debug->shown.position, drawn.shown.position);
    EXPECT_EQ(debug->shown_time_s, drawn.shown_time_s);
    EXPECT_EQ(debug->age_s, drawn.age_s);
    EXPECT_EQ(debug->blend_m, glm::distance(debug->shown.position, debug->motion.position));
    if (debug->blend_left_s == 0.0) {
      EXPECT_LT(debug->blend_m, 1e-9) << "no blend, no offset";
    }
    EXPECT_LE(debug->blend_left_s, 1.0);
    EXPECT_EQ(debug->threshold_m, 0.05);
    ++frames;
    blending += debug->blend_left_s > 0.0 ? 1 : 0;
    largest_m = std::max(largest_m, debug->blend_m);
  };
  world.run_to(5.0);
  EXPECT_GT(frames, 200);
  EXPECT_GT(blending, 10);
  if (GetParam() == PlayoutMode::present) {
    EXPECT_GT(largest_m, 1e-3) << "a swing needs correcting";
  }
  EXPECT_FALSE(world.client(0).debug(EntityId{}));
}

INSTANTIATE_TEST_SUITE_P(, ShownDebugIn, testing::Values(PlayoutMode::present, PlayoutMode::adaptive));

TEST(ShownDebug, WhoHearsNothingSaysThatItFades) {
  World world({.links = network("lan"), .script = "3 loss=100\n10 loss=0\n"});
  const EntityId id = world.add_body(Circle{});
  world.add_client();
  world.run_to(2.5);
  ASSERT_TRUE(world.client(0).debug(id));
  EXPECT_FALSE(world.client(0).debug(id)->fading);
  world.run_to(6.0);
  ASSERT_TRUE(world.client(0).debug(id));
  EXPECT_TRUE(world.client(0).debug(id)->fading);
}

TEST(ShownDebug, CountsFromTheOrigin) {
  World world({.links = network("lan")});
  const EntityId id = world.add_body(Still{{5.0, 0.0, 0.0}});
  world.add_client();
  world.run_to(2.0);
  ASSERT_TRUE(world.client(0).set_origin({100.0, 0.0, 0.0}));
  const auto debug = world.client(0).debug(id);
  ASSERT_TRUE(debug);
  EXPECT_NEAR(debug->shown.position.x, -95.0, 0.05);
  EXPECT_NEAR(debug->motion.position.x, -95.0, 0.05);
}

}  // namespace
}  // namespace reckoner::test
