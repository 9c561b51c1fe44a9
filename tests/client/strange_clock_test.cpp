// SPDX-License-Identifier: MIT
// A client's clock that stands, crawls, jumps or repeats times. Whatever it does, no body is drawn where it
// could not be.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner::test::strange_clock {
namespace {

constexpr double kStrangeFromS = 5.0;

// A circle 10 m wide, at 16.5 m/s.
const Circle kTrack{.radius_m = 5.0, .turn_rps = 3.3};

struct Drawn {
  double furthest_m = 0.0;  // from the centre of the circle
  double fastest_mps = 0.0;
  std::size_t frames = 0;
  double strange_error_m = 0.0;  // at the shown instant, from the second second of the strange time on
  double error_m = 0.0;          // of the last second
};

// Runs a client whose clock `change` sets. `change(world)` runs the world through the strange time.
template <class Change>
Drawn draw(PlayoutMode mode, bool sampled, const Change& change, const Circle& path = kTrack) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 4.0});
  World world(config);
  (void)world.add_body(path);
  ClientConfig client;
  client.playout.mode = mode;
  client.playout.delay_s = 0.2;
  world.add_client(client);
  Drawn drawn;
  double error_from_s = 1e9;
  bool is_strange = true;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < kStrangeFromS || shown.empty()) return;
    glm::dvec3 position = shown[0].shown.position;
    if (sampled) position = world.client(0).shown_poses().positions[0];
    drawn.furthest_m = std::max(drawn.furthest_m, glm::length(position));
    drawn.fastest_mps = std::max(drawn.fastest_mps, double{glm::length(shown[0].shown.velocity)});
    ++drawn.frames;
    if (is_strange && time_s > kStrangeFromS + 1.0)
      drawn.strange_error_m =
          std::max(drawn.strange_error_m, glm::distance(position, path(shown[0].shown_time_s).position));
    if (time_s > error_from_s)
      drawn.error_m = std::max(drawn.error_m, glm::distance(position, path(shown[0].shown_time_s).position));
  };
  world.run_to(kStrangeFromS);
  change(world);
  is_strange = false;
  error_from_s = world.now_s() + 5.0;
  world.run_to(error_from_s + 1.0);
  return drawn;
}

// The clock goes on from where it is, at this rate.
void set_rate(World& world, double rate) {
  const double now_s = world.now_s();
  world.set_local_clock(0, {.offset_s = world.local_s(0, now_s) - now_s * rate, .rate = rate});
}

void set_forward(World& world, double by_s) {
  const double now_s = world.now_s();
  world.set_local_clock(0, {.offset_s = world.local_s(0, now_s) - now_s + by_s});
}

void expect_sensible(const Drawn& drawn, double most_beyond_m = 3.5) {
  EXPECT_GT(drawn.frames, 60u);
  // The motion is extrapolated for a moment: by 0.18 s backwards, along a tangent that is bent.
  EXPECT_LT(drawn.furthest_m, kTrack.radius_m + most_beyond_m);
  EXPECT_LT(drawn.fastest_mps, 3.0 * 30.0 + 1.0);
  EXPECT_LT(drawn.error_m, 0.3);
}

class StrangeClock : public testing::TestWithParam<PlayoutMode> {};

// For example a debugger or a clock that does not count the machine's sleep.
TEST_P(StrangeClock, Stands) {
  for (const double stands_s : {0.4, 2.0, 8.0, 20.0, 60.0}) {
    for (const bool suspended : {false, true}) {
      for (const bool sampled : {false, true}) {
        SCOPED_TRACE(testing::Message() << "stands for " << stands_s << " s, suspended " << suspended
                                        << ", sampled " << sampled);
        const Drawn drawn = draw(GetParam(), sampled, [&](World& world) {
          set_rate(world, 0.0);
          if (suspended) world.suspend_client(0, world.now_s() + stands_s);
          world.run_to(world.now_s() + stands_s);
          set_rate(world, 1.0);
        });
        expect_sensible(drawn);
        EXPECT_LT(drawn.strange_error_m, 1.0);
      }
    }
  }
}

TEST_P(StrangeClock, Crawls) {
  for (const double rate : {0.02, 0.05, 0.1, 0.2, 0.25, 0.5}) {
    SCOPED_TRACE(rate);
    const Drawn drawn = draw(GetParam(), false, [&](World& world) {
      set_rate(world, rate);
      world.run_to(world.now_s() + 12.0);
      set_rate(world, 1.0);
    });
    // A rate of 0.2 or more is corrected. When the clock then runs as before, it is ahead until an answer
    // tells.
    expect_sensible(drawn, rate < 0.2 ? 3.5 : 5.0);
    EXPECT_LT(drawn.strange_error_m, 1.0);
  }
}

TEST_P(StrangeClock, RepeatsTimes) {
  for (const double anticipated_s : {0.1, 0.5}) {
    SCOPED_TRACE(anticipated_s);
    expect_sensible(draw(GetParam(), false, [&](World& world) {
      const double end_s = world.now_s() + 8.0;
      while (world.now_s() < end_s) {
        const double next_s = world.now_s() + anticipated_s;
        set_rate(world, 0.0);
        world.run_to(next_s);
        set_forward(world, anticipated_s);
      }
    }));
  }
}

// While the client cannot know better, it shows what the motion says about the time that it believes in: the
// body runs on until the silence limit of one second, and fades to rest. On a slow, wide curve this is
// little.
TEST_P(StrangeClock, Jumps) {
  const Circle slow{.radius_m = 5.0, .turn_rps = 0.8};
  for (const double by_s : {0.2, 1.0, 5.0, 60.0, 600.0, -0.2, -1.0, -60.0}) {
    SCOPED_TRACE(by_s);
    const Drawn drawn = draw(
        GetParam(), false,
        [&](World& world) {
          set_forward(world, by_s);
          world.run_to(world.now_s() + 3.0);
          set_forward(world, -by_s);
        },
        slow);
    const double valid_s = 1.0 + 0.25 + 0.1 + 0.1;  // the silence limit, the slack of an arrival, delays
    const double speed = slow.speed() + slow.acceleration() * valid_s;
    EXPECT_LT(drawn.furthest_m,
              slow.radius_m + speed * (valid_s + kFadeAccelerationS + 0.5 * kFadeVelocityS));
    EXPECT_LT(drawn.fastest_mps, 3.0 * 30.0 + 1.0);
    EXPECT_LT(drawn.error_m, 0.3);
  }
}

INSTANTIATE_TEST_SUITE_P(, StrangeClock,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

}  // namespace
}  // namespace reckoner::test::strange_clock
