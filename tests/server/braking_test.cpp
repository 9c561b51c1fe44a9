// SPDX-License-Identifier: MIT
// Archetypes whose motion never reverses, from server to client.
#include "tests/support/world.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>

namespace reckoner::test {
namespace {

constexpr double kBrakesAtS = 5.0;
constexpr double kSpeedMps = 20.0;
constexpr double kBrakeMps2 = 8.0;

// A car that drives straight on, brakes and stays at rest.
State car(double t) {
  const double braking_s = std::clamp(t - kBrakesAtS, 0.0, kSpeedMps / kBrakeMps2);
  const double before_s = std::min(t, kBrakesAtS);
  State s;
  s.position.x = kSpeedMps * (before_s + braking_s) - 0.5 * kBrakeMps2 * braking_s * braking_s;
  s.velocity.x = static_cast<float>(kSpeedMps - kBrakeMps2 * braking_s);
  const bool brakes = t >= kBrakesAtS && braking_s < kSpeedMps / kBrakeMps2;
  s.acceleration.x = brakes ? static_cast<float>(-kBrakeMps2) : 0.0f;
  return s;
}

std::vector<Archetype> cars(bool never_reverses) {
  Archetype archetype;
  archetype.name = "car";
  archetype.never_reverses = never_reverses;
  return {archetype};
}

struct Shown {
  double back_m = 0.0;     ///< total backward movement
  double differs_m = 0.0;  ///< largest difference between shown() and shown_poses()
  double end_error_m = 0.0;
};

// Shows the car to a client that receives nothing from shortly before the car stops until 0.5 s after it has
// stopped.
Shown watch(bool never_reverses) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0});
  config.script = "7.2 down loss=100\n8.0 down loss=0\n";
  config.server.archetypes = cars(never_reverses);
  World world(config);
  const EntityId id = world.add_body(car);
  ClientConfig client;
  client.archetypes = cars(never_reverses);
  world.add_client(client);
  Shown out;
  double x = 0.0;
  world.on_frame = [&](std::size_t number, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 2.0) return;
    ASSERT_EQ(shown.size(), 1u);
    const double now = shown[0].shown.position.x;
    if (x > 0.0) out.back_m += std::max(0.0, x - now);
    x = now;
    const ShownPoses poses = world.client(number).shown_poses();
    ASSERT_EQ(poses.positions.size(), 1u);
    out.differs_m = std::max(out.differs_m, std::abs(poses.positions[0].x - now));
  };
  world.run_to(12.0);
  out.end_error_m = std::abs(world.shown(0, id)->shown.position.x - car(12.0).position.x);
  return out;
}

TEST(Braking, CarDoesNotRollBackWhenUpdatesAreLostWhileItStops) {
  const Shown car = watch(true);
  EXPECT_LT(car.back_m, 0.05);  // the publish threshold
  EXPECT_LT(car.differs_m, 1e-5);
  EXPECT_LT(car.end_error_m, 0.02);
  EXPECT_GT(watch(false).back_m, 0.2) << "quadratic motion does not reverse either: the test proves nothing";
}

TEST(Braking, JoinIsRefusedUnlessBothSidesDeclareNeverReverses) {
  WorldConfig config;
  config.server.archetypes = cars(true);
  World world(config);
  ClientConfig client;
  client.archetypes = cars(false);
  world.add_client(client);
  world.run_to(2.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::refused);
}

}  // namespace
}  // namespace reckoner::test
