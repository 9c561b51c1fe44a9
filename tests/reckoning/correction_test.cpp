// SPDX-License-Identifier: MIT
// How an entity gets onto its motion after it has lacked motions for a while.
#include "scenario/builtin/random.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

constexpr double kOrdinaryS = 0.1;
constexpr double kSampleS = 1.0 / 240.0;
using Truth = std::function<State(double)>;

Motion motion_of(const Truth& truth, double time_s, double top_mps) {
  Motion motion{truth(time_s), time_s};
  motion.max_speed_mps = static_cast<float>(top_mps);
  return motion;
}

Truth any_path(scenario::Random& random) {
  const double speed_mps = random.uniform(2.0, 35.0);
  if (random.below(2) == 0) return test::Straight{.velocity = {static_cast<float>(speed_mps), 0.0f, 0.0f}};
  const double radius_m = random.uniform(10.0, 80.0);
  return test::Circle{.radius_m = radius_m, .turn_rps = speed_mps / radius_m};
}

// For any path, top speed, silence and later arrivals: 0.45 s after the first motion, the entity is where it
// would be without the silence. Position and velocity are continuous, and no speed is above three times the
// usual one, unless a jump is counted.
TEST(CatchUp, ArrivesInTimeWhateverFollows) {
  int jumped = 0, glided = 0;
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
      SCOPED_TRACE(testing::Message() << "path " << static_cast<int>(path) << ", seed " << seed);
      scenario::Random random(seed);
      const Truth truth = any_path(random);
      const double top_mps = random.below(3) == 0 ? 1000.0 : random.uniform(36.0, 60.0);
      const double delay_s = path == MotionPath::predict ? 0.0 : 0.2;
      const double late_s = 0.05;  // motions arrive this much after their time stamps
      RemoteEntity seen(motion_of(truth, 0.0, top_mps), path);
      RemoteEntity late(motion_of(truth, 0.0, top_mps), path);
      const double silent_from_s = 2.0;
      const double silent_to_s = silent_from_s + random.uniform(1.2, 1.2 + 6.0 * random.uniform(0.0, 1.0));
      double next_s = 0.1, first_s = 0.0;
      std::uint32_t jumps = 0;
      State before = late.shown(0.0);
      for (double now_s = kSampleS; now_s < silent_to_s + 2.0; now_s += kSampleS) {
        const double shown_s = now_s - delay_s;
        while (next_s + late_s <= now_s) {
          const Motion motion = motion_of(truth, next_s, top_mps);
          const bool silent = now_s > silent_from_s && now_s < silent_to_s;
          (void)seen.receive(motion, shown_s, kOrdinaryS);
          if (!silent) {
            const double behind_s = std::max(0.0, shown_s - late.valid_until_s());
            (void)late.receive(motion, shown_s, {kOrdinaryS, behind_s});
            if (now_s >= silent_to_s && first_s == 0.0) first_s = now_s;
          }
          next_s += random.uniform(0.02, 0.2);
        }
        if (now_s > silent_from_s + 1.0 && now_s < silent_to_s && late.valid_until_s() == kAlwaysValid)
          late.set_valid_until(shown_s, shown_s, kOrdinaryS);
        const State shown = late.shown(shown_s);
        if (late.jumps() == jumps && now_s > 1.0) {  // with a delay, nothing is known at first
          const double speed_mps = glm::distance(shown.position, before.position) / kSampleS;
          ASSERT_LE(speed_mps, 4.0 * 35.0) << now_s;  // with the errors of motions during the catch-up
          // Twice the largest speed within a twelfth of a second is far more than any blend accelerates.
          ASSERT_LT(glm::distance(shown.velocity, before.velocity), 210.0 * 12.0 * kSampleS) << now_s;
        }
        jumps = late.jumps();
        before = shown;
        if (first_s > 0.0 && now_s > first_s + kLongestCatchUpS + delay_s + kSampleS) {
          ASSERT_LT(glm::distance(shown.position, seen.shown(shown_s).position), 0.05) << now_s - first_s;
        }
      }
      ASSERT_LE(jumps, 1u);
      ++(jumps > 0 ? jumped : glided);
    }
  }
  EXPECT_GT(jumped, 30);
  EXPECT_GT(glided, 60);
}

// Three times the usual speed in half a second, and not much less.
TEST(CatchUp, JumpsOnlyOverDistancesThatAreTooLong) {
  for (const double top_mps : {5.0, 20.0, 40.0, 1000.0}) {
    for (const double speed_mps : {0.0, 4.0, 33.0}) {
      if (speed_mps > top_mps) continue;
      const double usual_mps = std::max(speed_mps, std::min(top_mps, 30.0));
      const double reach_m = (3.0 * usual_mps - speed_mps) * 0.5;
      for (const double share : {0.2, 0.5, 0.7, 1.05, 2.0, 100.0}) {
        Motion motion;
        motion.max_speed_mps = static_cast<float>(top_mps);
        RemoteEntity entity(motion);
        entity.set_valid_until(0.0, 0.0, kOrdinaryS);
        Motion ahead = motion;
        ahead.time_s = 10.0;
        ahead.state.position = {share * reach_m, 0.0, 0.0};
        ahead.state.velocity = {static_cast<float>(speed_mps), 0.0f, 0.0f};
        ASSERT_TRUE(entity.receive(ahead, 10.0, {kOrdinaryS, 10.0}));
        EXPECT_EQ(entity.jumps(), share > 1.0 ? 1u : 0u) << top_mps << " " << speed_mps << " " << share;
        EXPECT_EQ(entity.jumped_s() == 10.0, share > 1.0);
        EXPECT_LT(glm::distance(entity.shown(10.5).position, state_at(ahead, 10.5).position), 1e-3);
      }
    }
  }
}

// The motion moves on along the route, and the entity never leaves it.
TEST(CatchUp, AlongARoute) {
  RouteDefinition definition;
  definition.curve = CatmullRomRoute{{{0, 0, 0}, {200, 0, 0}, {400, 100, 0}, {600, 0, 0}, {900, 0, 0}}};
  const Route route = *Route::make(definition);
  for (const double gap_m : {2.0, 12.0, 300.0}) {
    Motion motion;
    motion.route = &route;
    motion.along = {.distance = 50.0, .speed = 10.0};
    motion.state = state_at(motion, 0.0);
    RemoteEntity entity(motion);
    entity.set_valid_until(1.0, 0.5, kOrdinaryS);
    Motion ahead = motion;
    ahead.time_s = 10.0;
    ahead.along.distance = route.advanced_on_route(motion.along, 1.6).distance + gap_m;
    ASSERT_TRUE(entity.receive(ahead, 10.0, {kOrdinaryS, 9.0}));
    EXPECT_EQ(entity.jumps(), gap_m > 100.0 ? 1u : 0u);
    glm::dvec3 before = entity.shown(10.0).position;
    for (double t = 10.0 + kSampleS; t < 10.44; t += kSampleS) {
      const glm::dvec3 now = entity.shown(t).position;
      EXPECT_LT(glm::distance(before, now), 91.0 * kSampleS);
      EXPECT_NE(entity.route(t), nullptr);
      before = now;
      if (t > 10.2 && entity.newest().time_s < 10.2) {
        Motion next = ahead;
        next.time_s = 10.2;
        next.along = route.advanced_on_route(ahead.along, 0.2);
        ASSERT_TRUE(entity.receive(next, t, kOrdinaryS));  // must not shorten the catch-up
        before = entity.shown(t).position;
      }
    }
    EXPECT_LT(glm::distance(entity.shown(10.46).position, state_at(ahead, 10.46).position), 1e-6);
  }
}

// The game pushes a body out of a wall in every frame of a catch-up: it still ends in time.
TEST(CatchUp, EndsInTimeAlthoughTheGameCorrects) {
  RemoteEntity entity(Motion{});
  entity.set_valid_until(0.0, 0.0, kOrdinaryS);
  Motion ahead;
  ahead.time_s = 10.0;
  ahead.state.position = {10.0, 0.0, 0.0};
  ASSERT_TRUE(entity.receive(ahead, 10.0, {kOrdinaryS, 10.0}));
  for (double t = 10.0; t < 10.3; t += 1.0 / 60.0) {
    State shown = entity.shown(t);
    shown.position.y = std::max(shown.position.y, 0.01);
    entity.correct(shown, t, kOrdinaryS);
  }
  EXPECT_LT(glm::distance(entity.shown(10.46).position, ahead.state.position), 1e-6);
}

// A motion says nothing about the time long before it.
TEST(StrangeTimes, MotionIsHeldBeforeItsTimeStamp) {
  scenario::Random random(5);
  for (int i = 0; i < 200; ++i) {
    Motion motion;
    motion.time_s = 100.0;
    motion.state.velocity = {static_cast<float>(random.uniform(-30.0, 30.0)), 5.0f, 0.0f};
    motion.state.acceleration = {static_cast<float>(random.uniform(-50.0, 50.0)), 0.0f, 0.0f};
    motion.state.angular_velocity = {0.0f, 0.0f, static_cast<float>(random.uniform(-6.0, 6.0))};
    motion.never_reverses = i % 2 == 0;
    const RemoteEntity entity(motion);
    EXPECT_EQ(entity.shown(99.95).position,
              state_at(motion, 99.95).position);  // a clock that is a little late
    const double most_s = kExtrapolateBackS + 0.5 * kFadeBackS;
    for (const double before_s : {0.2, 0.3, 1.0, 60.0, 1e6}) {
      const State shown = entity.shown(100.0 - before_s);
      const double speed = glm::length(motion.state.velocity) + 50.0 * most_s;
      EXPECT_LE(glm::distance(shown.position, motion.state.position), speed * most_s + 1e-6);
      if (before_s > 0.26) {
        EXPECT_EQ(glm::length(shown.velocity), 0.0f);
        EXPECT_EQ(glm::length(shown.angular_velocity), 0.0f);
      }
    }
    // The velocity is the derivative of the position throughout.
    for (double t = 99.6; t < 100.1; t += 0.013) {
      const glm::dvec3 rate = (entity.shown(t + 1e-5).position - entity.shown(t - 1e-5).position) / 2e-5;
      EXPECT_LT(glm::distance(rate, glm::dvec3{entity.shown(t).velocity}), 1e-2) << t;
    }
  }
}

TEST(StrangeTimes, MotionAlongARouteIsHeldBeforeItsTimeStamp) {
  RouteDefinition definition;
  definition.curve = CatmullRomRoute{{{0, 0, 0}, {200, 0, 0}, {400, 100, 0}, {600, 0, 0}}};
  const Route route = *Route::make(definition);
  Motion motion;
  motion.time_s = 100.0;
  motion.route = &route;
  motion.along = {.distance = 300.0, .speed = 20.0, .acceleration = 2.0};
  motion.state = state_at(motion, 100.0);
  const RemoteEntity entity(motion);
  for (const double before_s : {0.3, 8.0, 60.0}) {
    EXPECT_LT(glm::distance(entity.shown(100.0 - before_s).position, motion.state.position), 20.0 * 0.18);
    EXPECT_LT(glm::length(entity.shown(100.0 - before_s).velocity), 1e-6f);
  }
}

}  // namespace
}  // namespace reckoner
