// SPDX-License-Identifier: MIT
// What is shown while no updates or too few updates arrive, and when they arrive again.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner::test {
namespace {

// Motion starts to fade after this much silence.
constexpr double kSilenceS = 1.0;

/// Shown frames of one body and the largest errors.
struct Watch {
  std::optional<State> before;
  double worst_corner_mps = 0.0;  ///< shown velocity minus the displacement between frames per second

  void add(const State& shown, double frame_s) {
    if (before) {
      const glm::dvec3 mean = 0.5 * (glm::dvec3{shown.velocity} + glm::dvec3{before->velocity});
      const glm::dvec3 moved = (shown.position - before->position) / frame_s;
      worst_corner_mps = std::max(worst_corner_mps, glm::distance(moved, mean));
    }
    before = shown;
  }
};

double speed_of(const State& state) {
  return glm::length(glm::dvec3{state.velocity});
}

class ConnectionSilenceIn : public testing::TestWithParam<PlayoutMode> {};

TEST_P(ConnectionSilenceIn, MotionFadesToRestAndRecoversWithoutAJump) {
  constexpr double kFrameHz = 240.0;
  // The link to the client is down from 6 s to 9 s.
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});
  config.script = "6 down loss=100\n9 down loss=0\n";
  config.frame_rate_hz = kFrameHz;
  World world(config);
  const Circle path{.radius_m = 5.0, .turn_rps = 1.0};
  const EntityId id = world.add_body(path);
  ClientConfig client;
  client.silence_s = kSilenceS;
  client.playout = {.mode = GetParam(), .delay_s = 0.3};
  client.playout.use(BlendProfile::article);  // the limits are those of its blends
  world.add_client(client);
  Watch watch;
  double least_speed = 1e9, worst_m = 0.0, last_distance_m = 0.0, error_after_m = 0.0;
  std::optional<glm::dvec3> at_silence;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 4.0) return;
    ASSERT_EQ(shown.size(), 1u);
    const State& state = shown[0].shown;
    watch.add(state, 1.0 / kFrameHz);
    if (time_s > 6.0 && !at_silence) at_silence = state.position;
    if (time_s > 6.0 && time_s < 9.0) worst_m = std::max(worst_m, glm::distance(state.position, *at_silence));
    if (time_s > 8.6 && time_s < 9.0) {
      least_speed = std::min(least_speed, speed_of(state));
      last_distance_m += speed_of(state) / kFrameHz;
    }
    if (time_s > 11.0)
      error_after_m =
          std::max(error_after_m, glm::distance(state.position, path(shown[0].shown_time_s).position));
  };
  world.run_to(13.0);
  ASSERT_NE(world.shown(0, id), nullptr);
  // The body moves at 5 m/s with 5 m/s^2. A velocity step of a tenth of the speed would exceed the bound.
  EXPECT_LT(watch.worst_corner_mps, 0.2);
  EXPECT_LT(least_speed, 1e-3);
  EXPECT_LT(last_distance_m, 0.01);
  // The motion continues for the silence limit plus the link delay. After that, the displacement bound of
  // faded_state() applies.
  const double silence_timeout_s = kSilenceS + 0.3 + 0.1;
  const double speed = path.speed() + path.acceleration() * silence_timeout_s;
  EXPECT_LT(worst_m,
            speed * (silence_timeout_s + kFadeAccelerationS + 0.5 * kFadeVelocityS) + path.acceleration());
  EXPECT_LT(error_after_m, 0.15);
}

INSTANTIATE_TEST_SUITE_P(, ConnectionSilenceIn,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

// An entity that rests or moves as predicted returns to its predicted position as soon as a datagram confirms
// it.
TEST(ConnectionSilence, PredictedMotionContinuesAfterwards) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0});
  config.script = "6 down loss=100\n8 down loss=0\n";
  World world(config);
  const Straight path{.velocity = {3.0f, 0.0f, 0.0f}};
  const EntityId id = world.add_body(path);
  world.add_client();
  world.run_to(7.9);
  EXPECT_GT(glm::distance(world.shown(0, id)->shown.position, path(7.9).position), 0.2);
  world.run_to(11.0);
  EXPECT_LT(glm::distance(world.shown(0, id)->shown.position, path(11.0).position), 0.06);
}

// shown_poses() agree with shown() during a silence and afterwards.
TEST(ConnectionSilence, SampleAgreesWithFrame) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0});
  config.script = "4 down loss=100\n7 down loss=0\n";
  World world(config);
  world.add_body(Circle{});
  world.add_body(Straight{});
  world.add_client();
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 3.0) return;
    const ShownPoses poses = world.client(client).shown_poses();
    ASSERT_EQ(poses.ids.size(), 2u);
    for (const ShownEntity& entity : shown) {
      const auto place = std::find(poses.ids.begin(), poses.ids.end(), entity.id) - poses.ids.begin();
      EXPECT_LT(glm::distance(poses.positions[static_cast<std::size_t>(place)], entity.shown.position), 1e-5)
          << time_s;
      ++compared;
    }
  };
  world.run_to(9.0);
  EXPECT_GT(compared, 700u);
}

// The client receives only a small part of all updates. No shown entity runs away, because an old motion is
// not extrapolated without end.
TEST(EntitySilence, EntityWithoutUpdatesDoesNotRunAway) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 20.0});
  config.server.bytes_per_second = 400;
  World world(config);
  std::map<EntityId, Circle> paths;
  for (int i = 0; i < 60; ++i) {
    const Circle path{.radius_m = 20.0, .turn_rps = 1.0, .phase_rad = 0.1 * i};
    paths.emplace(world.add_body(path), path);
  }
  world.add_client();
  double furthest_m = 0.0, oldest_s = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 20.0) return;
    for (const ShownEntity& entity : shown) {
      furthest_m = std::max(furthest_m, glm::length(entity.shown.position));
      oldest_s = std::max(oldest_s, entity.age_s);
    }
  };
  world.run_to(60.0);
  ASSERT_GT(world.shown(0).size(), 30u);
  EXPECT_GT(oldest_s, 7.0) << "no entity waited long: the test proves nothing";
  // An old motion continues at 20 m/s with 20 m/s^2 for 5 s, and then during the fade.
  const double valid_s = 5.0;
  const double distance_m = 20.0 * valid_s + 10.0 * valid_s * valid_s;
  const double speed = 20.0 + 20.0 * valid_s;
  EXPECT_LT(furthest_m, 20.0 + distance_m + speed * (kFadeAccelerationS + 0.5 * kFadeVelocityS) + 5.0);
}

}  // namespace
}  // namespace reckoner::test
