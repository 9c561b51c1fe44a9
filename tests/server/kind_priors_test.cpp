// SPDX-License-Identifier: MIT
#include "server/src/publish/publisher.hpp"
#include "tests/support/world.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTickRateHz = 60.0;

// Oscillates so that neither constant velocity nor constant acceleration predicts it.
Truth swing(double born_s, double phase) {
  return [=](double t) {
    State s;
    s.position = {2.0 * std::sin(6.0 * t + phase), std::cos(5.0 * t + phase), 0.0};
    // Like a game that computes velocity from position differences: no velocity in the first tick.
    if (t > born_s + 0.5 / kTickRateHz) {
      s.velocity = {static_cast<float>(12.0 * std::cos(6.0 * t + phase)),
                    static_cast<float>(-5.0 * std::sin(5.0 * t + phase)), 0.0f};
    }
    return s;
  };
}

WorldConfig config(unsigned threads = 1, std::size_t kinds = 1) {
  WorldConfig config;
  config.server.tick_rate_hz = kTickRateHz;
  config.server.threads = threads;
  config.server.archetypes.resize(kinds);
  for (std::size_t i = 0; i < kinds; ++i)
    config.server.archetypes[i].name = "kind " + std::to_string(i);
  return config;
}

// Mean error (m) of the published motion of a body spawned at `born_s`, extrapolated by 0.15 s, over the
// body's first second.
double prediction_error_m(World& world, double born_s, double phase, std::size_t kind = 0) {
  world.run_to(born_s - 1e-6);
  const Truth path = swing(born_s, phase);
  const EntityId id = world.add_body(path, {}, "late", kind);
  double sum = 0.0;
  int count = 0;
  world.after_tick = [&](double t) {
    if (t > born_s + 1.0 || t < born_s + 0.05) return;
    const auto published = world.server().published(id);
    if (!published) return;
    sum += glm::distance(state_at(*published, t + 0.15).position, path(t + 0.15).position);
    ++count;
  };
  world.run_to(born_s + 1.1);
  world.after_tick = {};
  EXPECT_GT(count, 50);
  return sum / count;
}

// Compares a body that is spawned among others of its archetype with the first of its archetype.
TEST(KindPriors, LateSpawnIsPredictedFromOthersOfItsArchetype) {
  double late_m = 0.0, first_m = 0.0;
  for (int round = 0; round < 5; ++round) {
    const double phase = 1.3 * round;
    World alone(config());
    first_m += prediction_error_m(alone, 10.0, phase);
    World peopled(config());
    for (int i = 0; i < 6; ++i)
      peopled.add_body(swing(0.0, 0.9 * i));
    late_m += prediction_error_m(peopled, 10.0, phase);
  }
  EXPECT_LT(late_m, 0.8 * first_m);
}

// Bodies that live for half a second, one after another, still improve the prediction of the next one.
TEST(KindPriors, KeepWhatDespawnedEntitiesTaught) {
  World alone(config());
  const double first_m = prediction_error_m(alone, 10.0, 0.4);
  World world(config());
  for (int i = 0; i < 15; ++i) {
    world.run_to(0.6 * i);
    const EntityId id = world.add_body(swing(0.6 * i, 0.9 * i));
    world.run_to(0.6 * i + 0.5);
    world.remove_body(id);
  }
  EXPECT_LT(prediction_error_m(world, 10.0, 0.4), 0.8 * first_m);
}

TEST(KindPriors, AreSeparateForEachArchetype) {
  World alone(config(1, 2));
  const double first_m = prediction_error_m(alone, 10.0, 0.4, 1);
  World peopled(config(1, 2));
  for (int i = 0; i < 6; ++i)
    peopled.add_body(swing(0.0, 0.9 * i));
  EXPECT_EQ(prediction_error_m(peopled, 10.0, 0.4, 1), first_m);
}

// Returns a hash of every bit of every published motion. It must not depend on the number of threads.
std::uint64_t digest(unsigned threads) {
  World world(config(threads));
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&hash](double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  };
  std::vector<EntityId> ids;
  for (int second = 0; second < 8; ++second) {
    for (int i = 0; i < 40; ++i)
      ids.push_back(world.add_body(swing(second, 0.7 * i + second)));
    if (second >= 2) {
      for (int i = 0; i < 20; ++i)
        world.remove_body(ids[static_cast<std::size_t>(40 * (second - 2) + 2 * i)]);
    }
    world.run_to(second + 1.0);
    for (const EntityId id : ids) {
      if (const auto motion = world.server().published(id)) {
        mix(motion->time_s);
        mix(motion->state.position.x);
        mix(static_cast<double>(motion->state.acceleration.x));
        mix(static_cast<double>(motion->state.acceleration.y));
      }
    }
  }
  return hash;
}

TEST(KindPriors, DoNotDependOnTheNumberOfThreads) {
  const std::uint64_t one = digest(1);
  EXPECT_EQ(digest(4), one);
  EXPECT_EQ(digest(3), one);
}

TEST(KindPriors, LeaveOutAccelerationsThatDoNotHelp) {
  KindPriors priors(2);
  EXPECT_TRUE(priors.needs_acceleration(0));
  priors.add(0, {.with = 2000, .without = 2000, .publishes = 50});
  EXPECT_TRUE(priors.needs_acceleration(0)) << "too few to judge";
  priors.add(0, {.with = 2000, .without = 1000, .publishes = 60});
  EXPECT_FALSE(priors.needs_acceleration(0)) << "they do harm";
  EXPECT_TRUE(priors.needs_acceleration(1));
  for (int i = 0; i < 100; ++i)
    priors.add(0, {.with = 1000, .without = 2000, .publishes = 100});
  EXPECT_TRUE(priors.needs_acceleration(0)) << "0.16 thresholds per publish, the mean of the newer ones";
  for (int i = 0; i < 100; ++i)
    priors.add(0, {.with = 10, .without = 20, .publishes = 100});
  EXPECT_FALSE(priors.needs_acceleration(0)) << "0.0016 thresholds per publish: gaps are rarely long";
}

// A body that bounces to and fro, in zigzag. No acceleration foresees a bounce.
Truth zigzag(double phase) {
  return [phase](double t) {
    constexpr double kHalfS = 0.7, kSpeedMps = 5.0;
    const double at = std::fmod(t + phase, 2.0 * kHalfS);
    State s;
    s.position.x = kSpeedMps * (at < kHalfS ? at : 2.0 * kHalfS - at);
    s.velocity.x = static_cast<float>(at < kHalfS ? kSpeedMps : -kSpeedMps);
    return s;
  };
}

std::uint64_t bytes_to_buffered_client(unsigned threads) {
  World world(config(threads));
  for (int i = 0; i < 400; ++i)
    world.add_body(zigzag(0.37 * i));
  ClientConfig client;
  client.playout.mode = PlayoutMode::adaptive;
  client.archetypes = config().server.archetypes;
  world.add_client(client);
  world.run_to(12.0);
  EXPECT_GT(world.server().stats().publishes, 5000u);
  return world.server().stats().state_bytes_sent;
}

// What is learned about accelerations must not depend on how the workers share the entities.
TEST(KindPriors, AccelerationsDoNotDependOnTheNumberOfThreads) {
  const std::uint64_t one = bytes_to_buffered_client(1);
  EXPECT_EQ(bytes_to_buffered_client(2), one);
  EXPECT_EQ(bytes_to_buffered_client(5), one);
}

}  // namespace
}  // namespace reckoner::test
