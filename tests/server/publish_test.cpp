// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTickS = 1.0 / 60.0;

/// Largest error of the published motion after every tick from `from_s` on.
struct Worst {
  double metres = 0.0;
  double radians = 0.0;
};

Worst watch(World& world, EntityId id, const Truth& path, double from_s, double to_s) {
  Worst worst;
  world.after_tick = [&](double time_s) {
    const auto motion = world.server().published(id);
    if (!motion || time_s < from_s) return;
    const State shown = state_at(*motion, time_s);
    const State truth = path(time_s);
    worst.metres = std::max(worst.metres, glm::distance(shown.position, truth.position));
    worst.radians = std::max(worst.radians, angle_between(shown.orientation, truth.orientation));
  };
  world.run_to(to_s);
  world.after_tick = nullptr;
  return worst;
}

TEST(Publish, PublishedMotionStaysWithinTheThreshold) {
  for (const Truth& path :
       {Truth{Circle{}}, Truth{Swing{}}, Truth{Circle{.radius_m = 1.0, .turn_rps = 6.0}}}) {
    World world({});
    const EntityId id = world.add_body(path);
    world.add_client();
    const Worst worst = watch(world, id, path, 0.5, 10.0);
    EXPECT_LE(worst.metres, 0.05);
    EXPECT_LE(worst.radians, 0.05);
  }
}

TEST(Publish, RestIsExactAndCausesNoPublishes) {
  World world({});
  State at;
  at.position = {1.2345, -6.789, 0.001};
  const EntityId moved = world.add_body(Straight{.velocity = {3.0f, 0.0f, 0.0f}});
  world.run_to(2.0);
  const std::uint64_t moving = world.server().stats().publishes;
  EXPECT_LT(moving, 15u);  // a straight line hardly needs publishes
  world.remove_body(moved);
  const EntityId still = world.add_body(Still{at.position});
  world.run_to(4.0);
  const std::uint64_t settled = world.server().stats().publishes;
  world.run_to(60.0);
  EXPECT_EQ(world.server().stats().publishes, settled);
  const auto motion = world.server().published(still);
  ASSERT_TRUE(motion);
  EXPECT_EQ(motion->state.velocity, glm::vec3{0.0f});
  EXPECT_EQ(motion->state.acceleration, glm::vec3{0.0f});
  EXPECT_LT(glm::distance(motion->state.position, at.position), 0.0125);
}

// When a moving body stops, the shown position differs from its position at rest by at most a sixtieth of the
// threshold. This takes one or two publishes, and no more follow.
TEST(Publish, EntityThatStopsIsShownExactlyAtRest) {
  for (const double updates_per_second : {0.0, 4.0}) {
    WorldConfig config;
    config.server.updates_per_second = updates_per_second;
    World world(config);
    world.add_client();
    constexpr double kStopsS = 4.0;
    std::vector<EntityId> ids;
    std::vector<State> rests;
    for (int i = 0; i < 40; ++i) {
      const Truth path = [=](double t) {
        State s =
            Circle{.radius_m = 1.0 + 0.37 * i, .turn_rps = 0.3, .phase_rad = 0.7 * i}(std::min(t, kStopsS));
        if (t >= kStopsS) s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
        return s;
      };
      ids.push_back(world.add_body(path));
      rests.push_back(path(kStopsS));
    }
    world.run_to(kStopsS - 0.01);
    const std::uint64_t before = world.server().stats().publishes;
    world.run_to(kStopsS + 4.0);
    const std::uint64_t settled = world.server().stats().publishes;
    EXPECT_LE(settled - before, 3u * ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const ShownEntity* shown = world.shown(0, ids[i]);
      ASSERT_NE(shown, nullptr);
      EXPECT_LT(glm::distance(shown->shown.position, rests[i].position), 0.05 / 60.0);
      EXPECT_LT(angle_between(shown->shown.orientation, rests[i].orientation), 0.05 / 60.0);
    }
    world.run_to(kStopsS + 20.0);
    EXPECT_EQ(world.server().stats().publishes, settled);
  }
}

// An orientation has at most 15 bits a component. A finer threshold does not raise this number.
TEST(Publish, TiltedEntityAtRestIsSilentAtAnyThreshold) {
  for (const double threshold_rad : {0.05, 0.002, 0.0001}) {
    WorldConfig config;
    config.server.archetypes[0].threshold_rad = threshold_rad;
    World world(config);
    world.add_client();
    for (int i = 0; i < 40; ++i) {
      world.add_body([=](double t) {
        State s;
        const double turned = std::min(t, 3.0) + i;
        s.orientation = glm::quat{rotation_exp({0.7 * turned, 0.31 * i, std::sin(1.3 * i)})};
        if (t < 3.0) s.angular_velocity = {0.7f, 0.0f, 0.0f};
        return s;
      });
    }
    world.run_to(6.0);
    const std::uint64_t settled = world.server().stats().publishes;
    world.run_to(12.0);
    EXPECT_EQ(world.server().stats().publishes, settled) << threshold_rad;
  }
}

TEST(Publish, IdleConnectionSendsHeartbeatsOnly) {
  World world({.links = network("lan")});
  world.add_body(Still{});
  world.add_client();
  world.run_to(3.0);
  const std::uint64_t datagrams = world.server().stats().datagrams_sent;
  const std::uint64_t bytes = world.server().stats().state_bytes_sent;
  world.run_to(23.0);
  EXPECT_NEAR(static_cast<double>(world.server().stats().datagrams_sent - datagrams), 80.0, 4.0);
  EXPECT_LT(static_cast<double>(world.server().stats().state_bytes_sent - bytes) / 20.0, 100.0);
}

TEST(Publish, FixedRateIsKeptAndSpreadOverTheTicks) {
  WorldConfig config;
  config.server.fixed_rate_hz = 10.0;
  World world(config);
  for (int i = 0; i < 30; ++i)
    world.add_body(Circle{});
  world.run_to(1.0);
  std::uint64_t before = world.server().stats().publishes;
  const std::uint64_t start = before;
  std::uint64_t most = 0;
  world.after_tick = [&](double) {
    most = std::max(most, world.server().stats().publishes - before);
    before = world.server().stats().publishes;
  };
  world.run_to(6.0);
  EXPECT_NEAR(static_cast<double>(before - start), 30 * 10 * 5, 35);
  EXPECT_LE(most, 10u);  // 5 a tick on average
}

TEST(Publish, UpdateBudgetIsUsedButNotExceeded) {
  WorldConfig config;
  config.server.updates_per_second = 8.0;
  World world(config);
  constexpr int kBodies = 8;
  for (int i = 0; i < kBodies; ++i)
    world.add_body(Circle{.turn_rps = 0.5 + 0.3 * i});
  world.run_to(5.0);
  const std::uint64_t before = world.server().stats().publishes;
  world.run_to(15.0);
  const double rate = static_cast<double>(world.server().stats().publishes - before) / (kBodies * 10.0);
  EXPECT_LE(rate, 8.0 * 1.02);
  EXPECT_GE(rate, 8.0 * 0.8);
}

TEST(Publish, TeleportIsPublishedWithItsTickAndANewCounter) {
  World world({.links = network("lan")});
  const EntityId id = world.add_body(
      [](double t) {
        return Still{{t < 2.0 ? 0.0 : 50.0, 0.0, 0.0}}(t);
      },
      {2.0});
  world.add_client();
  world.run_to(1.9);
  const auto before = world.server().published(id);
  world.run_to(2.0 + 2 * kTickS);
  const auto after = world.server().published(id);
  ASSERT_TRUE(before && after);
  EXPECT_NE(before->teleports, after->teleports);
  EXPECT_NEAR(after->time_s, 2.0, kTickS);
  EXPECT_NEAR(after->state.position.x, 50.0, 0.01);
}

TEST(Publish, FittedMotionStaysWithinTheWireLimits) {
  // Velocities at the limit that reverse every tick: any extrapolation is out of bounds.
  WorldConfig config;
  config.server.archetypes[0].max_speed_mps = 1e6;
  World world(config);
  ClientConfig client_config;
  const std::size_t client = world.add_client(client_config);
  const EntityId id = world.add_body([](double t) {
    State s;
    const bool odd = std::llround(t * 60.0) % 2 == 1;
    s.velocity = {odd ? 9e5f : -9e5f, 0.0f, 0.0f};
    s.angular_velocity = {0.0f, odd ? 9e3f : -9e3f, 0.0f};
    return s;
  });
  world.run_to(3.0);
  const auto motion = world.server().published(id);
  ASSERT_TRUE(motion);
  EXPECT_TRUE(is_sane(motion->state));
  EXPECT_EQ(world.client(client).stats().malformed, 0u);
  EXPECT_NE(world.shown(client, id), nullptr);
}

// Under a budget the threshold rises, and motions are quantised more coarsely. An entity at rest would then
// be off by more than the tolerance at rest, and would be published again and again.
TEST(Publish, RestUnderAnUpdateBudgetIsPublishedOnce) {
  WorldConfig config;
  config.server.updates_per_second = 4.0;
  World world(config);
  world.add_client();
  constexpr double kStopsS = 6.0;
  // Oscillates at 20 m/s and changes direction every tenth of a second. Then rests at a position that is not
  // a multiple of the coarse quantisation step.
  world.add_body([=](double t) {
    State s;
    const double until = std::min(t, kStopsS);
    const double phase = std::fmod(until, 0.4);
    s.position = {20.0 * std::abs(phase - 0.2) + 0.0371, 5.0 * std::sin(7.0 * until), 0.0187};
    if (t < kStopsS) s.velocity = {phase < 0.2 ? -20.0f : 20.0f, 0.0f, 0.0f};
    return s;
  });
  world.run_to(kStopsS + 1.0);
  const std::uint64_t before = world.server().stats().publishes;
  world.run_to(kStopsS + 6.0);
  EXPECT_LE(world.server().stats().publishes - before, 1u);
}

}  // namespace
}  // namespace reckoner::test
