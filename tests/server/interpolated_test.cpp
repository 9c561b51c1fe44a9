// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

const harness::LinkPair kLink = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});

ClientConfig buffered() {
  ClientConfig config;
  config.playout.mode = PlayoutMode::adaptive;
  return config;
}

struct Shown {
  double worst_m = 0.0;
  std::uint64_t publishes = 0;
};

// Shows a body to a client with this configuration for ten seconds and compares it with the true position at
// the shown time.
Shown watch(const Truth& path, const ClientConfig& config) {
  World world({.links = kLink});
  world.add_body(path);
  world.add_client(config);
  world.run_to(3.0);
  const std::uint64_t before = world.server().stats().publishes;
  Shown result;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    ASSERT_EQ(shown.size(), 1u);
    const State truth = path(shown[0].shown_time_s);
    result.worst_m = std::max(result.worst_m, glm::distance(shown[0].shown.position, truth.position));
  };
  world.run_to(13.0);
  result.publishes = world.server().stats().publishes - before;
  return result;
}

TEST(Interpolated, BufferedClientsStayWithinTheThresholdWithFewerPublishes) {
  const Truth turning = Circle{.radius_m = 4.0, .turn_rps = 2.0};
  const Truth swinging = Swing{.width_m = 3.0, .rate_rps = 3.0};
  for (const Truth& path : {turning, swinging}) {
    const Shown past = watch(path, buffered());
    const Shown present = watch(path, {});
    EXPECT_LE(past.worst_m, 0.06);  // the threshold and the error of the client's clock
    EXPECT_LT(past.publishes, present.publishes);
    EXPECT_GT(past.publishes, 20u);
  }
}

// Straight on, then a turn of half a second, then straight on.
State turn_once(double t) {
  constexpr double kTurnS = 5.0, kTurnedS = 5.5, kSpeedMps = 3.0, kTurnRps = 2.0;
  const double straight_s = std::min(t, kTurnS);
  const double angle = kTurnRps * (std::clamp(t, kTurnS, kTurnedS) - kTurnS);
  const double radius_m = kSpeedMps / kTurnRps;
  State s;
  s.position = {kSpeedMps * straight_s + radius_m * std::sin(angle), radius_m * (1.0 - std::cos(angle)), 0.0};
  s.velocity = glm::vec3{kSpeedMps * std::cos(angle), kSpeedMps * std::sin(angle), 0.0};
  if (t > kTurnedS) s.position += glm::dvec3{s.velocity} * (t - kTurnedS);
  return s;
}

TEST(Interpolated, SteadyMotionHoldsForSecondsAfterATurn) {
  World world({.links = kLink});
  world.add_body(turn_once);
  world.add_client(buffered());
  world.run_to(6.5);  // the turn ended a second ago
  const std::uint64_t before = world.server().stats().publishes;
  world.run_to(16.5);
  EXPECT_LE(world.server().stats().publishes - before, 2u);
}

// A body in a box that is shaken: it is hit from another side every few ticks. As in many games, its velocity
// is the mean of the last tick.
State shaken(double t) {
  constexpr double kTickS = 1.0 / 60.0;
  const auto zigzag = [](double time_s, double half_s) {
    const double at = std::fmod(time_s, 2.0 * half_s);
    return 8.0 * (at < half_s ? at : 2.0 * half_s - at);
  };
  const auto place = [&](double time_s) {
    return glm::dvec3{zigzag(time_s, 0.11), zigzag(time_s, 0.17), zigzag(time_s, 0.07)};
  };
  State s;
  s.position = place(t);
  s.velocity = glm::vec3{(place(t) - place(std::max(0.0, t - kTickS))) / kTickS};
  return s;
}

// The number of publishes that are sudden, in ten seconds.
int sudden_publishes(const Truth& path, const ClientConfig& config) {
  World world({.links = kLink});
  const EntityId id = world.add_body(path);
  world.add_client(config);
  int count = 0;
  double last_s = -1.0;
  world.after_tick = [&](double) {
    const auto motion = world.server().published(id);
    if (!motion || motion->time_s <= last_s) return;
    last_s = motion->time_s;
    count += motion->transition.sudden ? 1 : 0;
  };
  world.run_to(10.0);
  return count;
}

TEST(Interpolated, HitsArePublishedAsSuddenToBufferedClients) {
  EXPECT_GT(sudden_publishes(shaken, buffered()), 10);
  EXPECT_EQ(sudden_publishes(shaken, {}), 0);
  EXPECT_EQ(sudden_publishes(Circle{.radius_m = 4.0, .turn_rps = 2.0}, buffered()), 0);
}

TEST(Interpolated, OnePresentModeClientRequiresPublishesForPresentMode) {
  const Circle path{.radius_m = 1.0, .turn_rps = 6.0};
  World world({.links = kLink});
  const EntityId id = world.add_body(path);
  for (int i = 0; i < 3; ++i)
    world.add_client(buffered());
  const std::size_t present = world.add_client();
  double worst_m = 0.0;
  world.after_tick = [&](double time_s) {
    const auto motion = world.server().published(id);
    if (!motion || time_s < 1.0) return;
    worst_m = std::max(worst_m, glm::distance(state_at(*motion, time_s).position, path(time_s).position));
  };
  world.run_to(6.0);
  EXPECT_LE(worst_m, 0.05);
  const std::uint64_t with = world.server().stats().publishes;
  world.client(present).leave();
  world.run_to(7.0);
  const std::uint64_t left = world.server().stats().publishes;
  world.run_to(13.0);
  // From now on, only interpolating clients count.
  EXPECT_LT(world.server().stats().publishes - left, with);
  EXPECT_GT(world.server().stats().publishes, left);
}

TEST(Interpolated, RestIsPublishedExactly) {
  const auto stops = [](double t) {
    State s = t < 3.0 ? Swing{.rate_rps = 5.0}(t) : Still{{1.25, -3.5, 0.75}}(t);
    return s;
  };
  World world({.links = kLink});
  const EntityId id = world.add_body(stops);
  world.add_client(buffered());
  world.run_to(5.0);
  const std::uint64_t settled = world.server().stats().publishes;
  const ShownEntity* shown = world.shown(0, id);
  ASSERT_NE(shown, nullptr);
  EXPECT_LT(glm::distance(shown->shown.position, stops(5.0).position), 0.005);
  EXPECT_EQ(shown->shown.velocity, glm::vec3{0.0f});
  world.run_to(8.0);
  EXPECT_EQ(world.server().stats().publishes, settled);
}

}  // namespace
}  // namespace reckoner::test
