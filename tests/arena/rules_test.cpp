// SPDX-License-Identifier: MIT
#include "examples/arena/bot.hpp"
#include "examples/arena/figures/script.hpp"
#include "examples/arena/messages.hpp"

#include <cstdio>
#include <fstream>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(ArenaRules, RaysEndAtWallsDoorsAndTheEdge) {
  const std::vector<Box> open = solids({true, true, true, true}), closed = solids({});
  EXPECT_NEAR(clear_path_m({0.0, 0.0}, {0.0, 1.0}, open), 7.75, 1e-9);     // the wall at y = 8
  EXPECT_NEAR(clear_path_m({-6.0, 0.0}, {0.0, 1.0}, closed), 7.75, 1e-9);  // a door
  EXPECT_NEAR(clear_path_m({-6.0, 0.0}, {0.0, 1.0}, open), 16.0, 1e-9);    // through it, to the edge
  EXPECT_NEAR(clear_path_m({0.0, 0.0}, {1.0, 0.0}, closed), 16.0, 1e-9);
}

TEST(ArenaRules, RaysMeetDiscsBeforeThemOnly) {
  EXPECT_NEAR(meets_disc_m({0.0, 0.0}, {1.0, 0.0}, {5.0, 0.4}, 0.45).value_or(-1.0), 5.0, 1e-9);
  EXPECT_FALSE(meets_disc_m({0.0, 0.0}, {1.0, 0.0}, {5.0, 0.5}, 0.45));
  EXPECT_FALSE(meets_disc_m({0.0, 0.0}, {1.0, 0.0}, {-5.0, 0.0}, 0.45));
}

// Whatever the controls are, a body stays outside of walls and closed doors and inside of the arena.
TEST(ArenaRules, BodiesStayOutOfWalls) {
  std::mt19937 random(7);
  const std::vector<Box> solid = solids({});
  for (int run = 0; run < 20; ++run) {
    reckoner::State start;
    start.position = {uniform(random, -15.0, 15.0), 0.0, 0.0};
    Body body(start, kPlayerBuild);
    for (int i = 0; i < 600; ++i) {
      const double heading = uniform(random, 0.0, 6.28);
      body.step({.walk = direction_of(heading), .jump = i % 50 == 0, .dash = true}, 1.0 / 60.0, {solid, {}});
      const glm::dvec3& at = body.state().position;
      ASSERT_TRUE(std::abs(at.y) < 7.75 - kBodyRadiusM + 0.01) << at.y;
      ASSERT_LE(std::abs(at.x), kHalfSideM);
      ASSERT_GE(at.z, 0.0);
      ASSERT_LE(glm::length(glm::dvec2(body.state().velocity)), 14.001);
    }
  }
}

TEST(ArenaMessages, RefuseOtherSizesAndKeepTextsPrintable) {
  const auto shot = pack(MessageKind::shot, Shot{.key = 5, .place = {1.5, 0.0}});
  ASSERT_TRUE(unpack<Shot>(shot));
  EXPECT_EQ(unpack<Shot>(shot)->key, 5u);
  EXPECT_FALSE(unpack<Shot>(std::span(shot).first(shot.size() - 1)));
  EXPECT_FALSE(unpack<Verdict>(shot));
  EXPECT_FALSE(first<MessageKind>(std::span(shot).first(3)));
  EXPECT_EQ(unpack_text(pack_text(MessageKind::chat, "a\nb\x01\xff c"), 4), "ab c");
}

TEST(ArenaScript, ReadsKeysWithSpacesAndComments) {
  const std::string path = testing::TempDir() + "arena_keys.txt";
  std::ofstream(path) << "# nothing\n\n1.5 press Left Shift   # dash\n2 quit\n";
  const auto script = read_script(path);
  ASSERT_TRUE(script);
  ASSERT_EQ(script->size(), 2u);
  EXPECT_EQ((*script)[0].words, "Left Shift");
  EXPECT_EQ((*script)[1].verb, "quit");
  std::ofstream(path) << "press W\n";
  EXPECT_FALSE(read_script(path));
  std::remove(path.c_str());
  EXPECT_FALSE(read_script(path));
}

}  // namespace
}  // namespace arena
