// SPDX-License-Identifier: MIT
// A paused client shows frozen poses. When it resumes, nothing jumps.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kFrameHz = 240.0;
constexpr double kPauseS = 4.0;

class Pause : public testing::TestWithParam<PlayoutMode> {
 protected:
  /// A world with 240 frames per second.
  static WorldConfig config() {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 10.0, .loss_percent = 2.0});
    config.frame_rate_hz = kFrameHz;
    return config;
  }
  static ClientConfig client() {
    ClientConfig client;
    client.playout = {.mode = GetParam(), .delay_s = 0.2};
    return client;
  }
  static void pause(World& world, bool paused) { world.updated(0).set_paused(paused); }
  /// The frozen pose of the first entity.
  static State frozen(World& world) { return world.updated(0).shown().front().shown; }
};

TEST_P(Pause, FreezesPosesAndResumesWithoutAJump) {
  World world(config());
  const Circle path{.radius_m = 5.0, .turn_rps = 1.0};
  (void)world.add_body(path);
  world.add_client(client());
  std::optional<State> before, at_pause;
  double worst_corner_mps = 0.0, error_m = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 2.0) return;
    ASSERT_EQ(shown.size(), 1u);
    const State now = shown[0].shown;
    if (at_pause) {
      EXPECT_EQ(now.position, at_pause->position);
      EXPECT_EQ(glm::length(now.velocity), 0.0f);
    } else if (before) {
      const glm::dvec3 mean = 0.5 * (glm::dvec3{now.velocity} + glm::dvec3{before->velocity});
      worst_corner_mps =
          std::max(worst_corner_mps, glm::distance((now.position - before->position) * kFrameHz, mean));
    }
    if (time_s > 3.0 + kPauseS + 1.0)
      error_m = std::max(error_m, glm::distance(now.position, path(shown[0].shown_time_s).position));
    before = now;
  };
  world.run_to(3.0);
  pause(world, true);
  at_pause = frozen(world);
  EXPECT_LT(glm::distance(at_pause->position, before->position), 0.05);
  world.run_to(3.0 + kPauseS);
  pause(world, false);
  before = at_pause;
  before->velocity = glm::vec3{0.0f};
  at_pause.reset();
  world.run_to(10.0);
  // The blend covers up to 10 m at a speed that rises and falls. A jump over that distance would be 2400 m/s.
  EXPECT_LT(worst_corner_mps, 20.0);
  EXPECT_LT(error_m, 0.3);
}

TEST_P(Pause, RemovesDespawnedEntitiesAndDelaysSpawns) {
  World world(config());
  const EntityId stays = world.add_body(Circle{.radius_m = 2.0, .turn_rps = 0.3});
  const EntityId goes = world.add_body(Circle{.radius_m = 3.0, .turn_rps = 0.3});
  world.add_client(client());
  world.run_to(3.0);
  pause(world, true);
  world.remove_body(goes);
  const EntityId comes = world.add_body(Circle{.radius_m = 4.0, .turn_rps = 0.3});
  world.run_to(5.0);
  EXPECT_NE(world.shown(0, stays), nullptr);
  EXPECT_EQ(world.shown(0, comes), nullptr);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 2u);
  const ShownPoses sampled = world.updated(0).shown_poses();
  ASSERT_EQ(sampled.ids.size(), world.shown(0).size());
  EXPECT_EQ(sampled.positions[0], world.shown(0)[0].shown.position);
  pause(world, false);
  world.run_to(6.0);
  EXPECT_EQ(world.shown(0, goes), nullptr);
  EXPECT_NE(world.shown(0, comes), nullptr);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 3u);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::despawned), 1u);
}

// A passenger who stands still on deck continues to stand still while the ship catches up over 30 m.
TEST_P(Pause, PassengerStaysOnTheShip) {
  World world(config());
  const auto sailing = [](double time_s) {
    State ship;
    ship.position = {8.0 * time_s, 0.0, 0.0};
    ship.velocity = {8.0f, 0.0f, 0.0f};
    return ship;
  };
  const EntityId ship = world.add_body(sailing);
  State on_deck;
  on_deck.position = {1.0, 4.0, 2.0};
  const EntityId man = *world.server().spawn(0, "man", on_deck, ship);
  world.add_client(client());
  double off_deck_m = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    const ShownEntity* on_ship = world.shown(0, man);
    if (time_s < 2.0 || on_ship == nullptr) return;
    off_deck_m = std::max(off_deck_m, glm::distance(on_ship->local.position, on_deck.position));
    const ShownEntity* carrier = world.shown(0, ship);
    ASSERT_NE(carrier, nullptr);
    off_deck_m = std::max(off_deck_m,
                          glm::distance(on_ship->shown.position - carrier->shown.position, on_deck.position));
  };
  world.run_to(3.0);
  pause(world, true);
  world.run_to(3.0 + kPauseS);
  pause(world, false);
  world.run_to(9.0);
  EXPECT_LT(off_deck_m, 0.01);
}

TEST_P(Pause, OriginMayShiftWhilePaused) {
  World world(config());
  const EntityId id = world.add_body(Circle{.radius_m = 2.0, .turn_rps = 0.3});
  world.add_client(client());
  world.run_to(3.0);
  pause(world, true);
  const glm::dvec3 at = frozen(world).position;
  ASSERT_TRUE(world.client(0).set_origin({100.0, 0.0, 0.0}));
  world.run_to(3.5);
  EXPECT_LT(glm::distance(world.shown(0, id)->shown.position, at - glm::dvec3(100.0, 0.0, 0.0)), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Modes, Pause,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

}  // namespace
}  // namespace reckoner::test
