// SPDX-License-Identifier: MIT
// After an entity's motion has settled, one refinement brings the shown pose to about 1 mm, for few bytes.
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// A lift: it swings gently until it moves on evenly at 0.3 m/s.
constexpr double kSettlesS = 4.0;
State lift(double t) {
  State s;
  constexpr double kRate = 1.5;
  const double swung_s = std::min(t, kSettlesS);
  s.position = {0.3 * t, 0.4 * std::sin(kRate * swung_s), 0.0};
  s.velocity = {0.3f, t < kSettlesS ? static_cast<float>(0.4 * kRate * std::cos(kRate * t)) : 0.0f, 0.0f};
  return s;
}

WorldConfig over_lan() {
  WorldConfig config;
  config.links.up.latency_ms = config.links.down.latency_ms = 2.0;
  return config;
}

// The largest error of the shown lift at its shown time from 2 to 4 s after it has settled, m.
double settled_error_m(World& world, PlayoutMode mode) {
  ClientConfig client;
  client.playout.mode = mode;
  world.add_client(client);
  world.add_body(lift);
  double worst_m = 0.0;
  world.on_frame = [&](std::size_t, double t, std::span<const ShownEntity> shown) {
    if (t < kSettlesS + 2.0) return;
    for (const ShownEntity& entity : shown)
      worst_m = std::max(worst_m, glm::distance(entity.shown.position, lift(entity.shown_time_s).position));
  };
  world.run_to(kSettlesS + 4.0);
  EXPECT_FALSE(world.shown(0).empty());
  return worst_m;
}

TEST(Refinement, BringsASettledMotionToAMillimetre) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    World world(over_lan());
    EXPECT_LT(settled_error_m(world, mode), 0.0015) << static_cast<int>(mode);
    EXPECT_EQ(world.server().stats().published_for.refinement, 1u);
  }
}

TEST(Refinement, ABudgetNeedsNone) {
  WorldConfig config = over_lan();
  config.server.updates_per_second = 10.0;
  World world(config);
  EXPECT_LT(settled_error_m(world, PlayoutMode::present), 0.005);
  EXPECT_EQ(world.server().stats().published_for.refinement, 0u);
}

// Forty sentries walk to and fro, and each leg of 3 s or less is a settled motion.
TEST(Refinement, TakesAtMostAHundredthOfThePublishes) {
  World world(over_lan());
  world.add_client();
  for (int i = 0; i < 40; ++i) {
    world.add_body([i](double t) {
      const double leg_s = 3.0 / (1.0 + 0.05 * i);
      const double leg = std::floor(t / leg_s);
      const bool back = std::fmod(leg, 2.0) != 0.0;
      const double walked_s = t - leg * leg_s;
      State s;
      s.position = {back ? leg_s - walked_s : walked_s, 2.0 * i, 0.0};
      s.velocity = {back ? -1.0f : 1.0f, 0.0f, 0.0f};
      return s;
    });
  }
  world.run_to(60.0);
  const ServerStats& stats = world.server().stats();
  EXPECT_GT(stats.published_for.refinement, 16u);
  EXPECT_LE(stats.published_for.refinement, 16u + stats.publishes / 100u);
}

}  // namespace
}  // namespace reckoner::test
