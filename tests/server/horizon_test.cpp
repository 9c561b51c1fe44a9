// SPDX-License-Identifier: MIT
// Published motions are fitted to the time at which clients show them, for different links.
#include "tests/support/world.hpp"

#include <cmath>
#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// Oscillates so fast that no quadratic fits both the near and the far future.
State swing(double t) {
  State s;
  s.position = {2.0 * std::sin(7.0 * t), std::cos(8.0 * t), 0.0};
  s.velocity = {static_cast<float>(14.0 * std::cos(7.0 * t)), static_cast<float>(-8.0 * std::sin(8.0 * t)),
                0.0f};
  return s;
}

WorldConfig over(double latency_ms) {
  WorldConfig config;
  config.server.updates_per_second = 10.0;
  config.links.up.latency_ms = config.links.down.latency_ms = latency_ms;
  return config;
}

// Mean error (m) of fresh publishes, extrapolated by kNearS and by kFarS.
struct PredictionError {
  double near_m = 0.0, far_m = 0.0;
};
constexpr double kNearS = 0.1, kFarS = 0.27;

PredictionError prediction_error(World& world, EntityId id, double from_s, double until_s) {
  PredictionError sum;
  int count = 0;
  world.run_to(from_s);
  world.after_tick = [&](double t) {
    const auto published = world.server().published(id);
    ASSERT_TRUE(published);
    if (published->time_s < t - 1e-6) return;
    const auto off_m = [&](double ahead_s) {
      return glm::distance(state_at(*published, t + ahead_s).position, swing(t + ahead_s).position);
    };
    sum.near_m += off_m(kNearS);
    sum.far_m += off_m(kFarS);
    ++count;
  };
  world.run_to(until_s);
  world.after_tick = {};
  EXPECT_GT(count, 50);
  return {sum.near_m / count, sum.far_m / count};
}

PredictionError over_link(double latency_ms) {
  World world(over(latency_ms));
  world.add_client();
  const EntityId id = world.add_body(swing);
  return prediction_error(world, id, 10.0, 30.0);
}

TEST(Horizon, MatchesTheLinkDelay) {
  const PredictionError short_delay = over_link(2.0), long_delay = over_link(180.0);
  EXPECT_LT(short_delay.near_m, 0.6 * long_delay.near_m);
  EXPECT_LT(long_delay.far_m, 0.6 * short_delay.far_m);
}

// The delay changes during the game. What the prediction learned before stays valid.
TEST(Horizon, FollowsAChangeOfTheLinkDelay) {
  WorldConfig config = over(2.0);
  config.script = "20 latency-ms=180\n";
  World world(config);
  world.add_client();
  const EntityId id = world.add_body(swing);
  const PredictionError before = prediction_error(world, id, 10.0, 19.9),
                        after = prediction_error(world, id, 25.0, 45.0);
  EXPECT_LT(after.far_m, 0.6 * before.far_m);
}

}  // namespace
}  // namespace reckoner::test
