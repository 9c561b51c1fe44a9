// SPDX-License-Identifier: MIT
// The shown pose is never much faster than the body's top speed, for any arrivals and delays.
#include "scenario/builtin/random.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

constexpr double kTopMps = 8.0;
constexpr double kChaseBlendS = 0.1;
constexpr double kChaseStepS = 1.0 / 240.0;
constexpr double kRounding = 1.0 + 1e-5;  // velocities are single precision

Motion limited(const State& state, double time_s, std::uint8_t teleports = 0) {
  Motion motion{state, time_s, teleports};
  motion.max_speed_mps = static_cast<float>(kTopMps);
  return motion;
}

glm::dvec3 random_vector(scenario::Random& random, double most) {
  glm::dvec3 v{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  const double length = glm::length(v);
  return length > 1e-3 ? v * (random.uniform(0, most) / length) : v;
}

// A plausible velocity at an arbitrary position: positions may be false. Two positions are up to twice
// `size_m` apart.
Motion any_motion(scenario::Random& random, double time_s, std::uint8_t teleports = 0, double size_m = 30.0) {
  State state;
  state.position = random_vector(random, size_m);
  state.velocity = glm::vec3{random_vector(random, kTopMps)};
  state.acceleration = glm::vec3{random_vector(random, random.below(2) == 0 ? 5.0 : 100.0)};
  if (random.below(3) == 0) state.velocity = state.acceleration = glm::vec3{0.0f};
  return limited(state, time_s, teleports);
}

// Samples an entity over an interval and records its largest speed.
class Watch {
 public:
  explicit Watch(const RemoteEntity& entity, double sample_s = kChaseStepS)
      : entity_(&entity), sample_s_(sample_s) {}

  void sample_until(double time_s) {
    for (; now_s_ < time_s; now_s_ += sample_s_) {
      const State shown = entity_->shown(now_s_);
      const double step_mps = glm::distance(shown.position, last_) / sample_s_;
      const bool jumps = entity_->teleports(now_s_) != teleports_ || entity_->jumps() != jumps_;
      if (started_ && !jumps) fastest_mps_ = std::max(fastest_mps_, step_mps);
      if (started_ && !jumps) {
        const glm::dvec3 rate = (shown.position - last_) / sample_s_;
        const glm::dvec3 mean = 0.5 * (glm::dvec3{shown.velocity} + velocity_);
        roughest_mps_ = std::max(roughest_mps_, glm::distance(rate, mean));
      }
      last_ = shown.position;
      velocity_ = glm::dvec3{shown.velocity};
      teleports_ = entity_->teleports(now_s_);
      jumps_ = entity_->jumps();
      started_ = true;
    }
  }
  [[nodiscard]] double fastest_mps() const { return fastest_mps_; }
  [[nodiscard]] double worst_mismatch_mps() const { return roughest_mps_; }

 private:
  const RemoteEntity* entity_;
  double sample_s_;
  double now_s_ = 1.0;
  bool started_ = false;
  glm::dvec3 last_{0.0};
  glm::dvec3 velocity_{0.0};
  std::uint8_t teleports_ = 0;
  std::uint32_t jumps_ = 0;
  double fastest_mps_ = 0.0;
  double roughest_mps_ = 0.0;
};

// Positions a few metres apart are reached with three times the top speed, or a little more when further
// motions have other errors.
TEST(Chase, ShownSpeedStaysWithinTheLimit) {
  constexpr double kSizeM = 3.0;
  constexpr double kMostMps = 4.5 * kTopMps;
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      scenario::Random random(seed);
      RemoteEntity entity(any_motion(random, 1.0, 0, kSizeM), path);
      Watch watch(entity);
      const double delay_s = path == MotionPath::predict ? 0.0 : 0.25;
      double now_s = 1.0;
      std::vector<double> teleports;  // times
      const auto count = [&](double time_s) {
        return static_cast<std::uint8_t>(
            std::count_if(teleports.begin(), teleports.end(), [&](double t) { return t <= time_s; }));
      };
      for (int i = 0; i < 120; ++i) {
        now_s += random.uniform(0.0, random.below(8) == 0 ? 1.5 : 0.12);
        watch.sample_until(now_s - delay_s);
        if (random.below(25) == 0) teleports.push_back(now_s);
        const double late_s = random.uniform(0.0, 0.3);
        (void)entity.receive(any_motion(random, now_s - late_s, count(now_s - late_s), kSizeM),
                             now_s - delay_s, kChaseBlendS);
        if (random.below(10) == 0) {
          const double valid_until_s =
              random.below(2) == 0 ? kAlwaysValid : now_s - delay_s + random.uniform(0.0, 0.2);
          entity.set_valid_until(valid_until_s, now_s - delay_s, kChaseBlendS);
        }
      }
      watch.sample_until(now_s + 2.0);
      EXPECT_LE(watch.fastest_mps(), kMostMps * kRounding)
          << "seed " << seed << " path " << static_cast<int>(path);
      EXPECT_GT(watch.fastest_mps(), 0.9 * kTopMps);  // the entity was at its limit
    }
  }
}

// On both paths and for any arrivals, position and velocity are continuous, except where a jump is counted.
TEST(Chase, IsContinuousInPositionAndVelocity) {
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    scenario::Random random(7);
    RemoteEntity entity(any_motion(random, 1.0), path);
    double now_s = 1.0;
    int continuous = 0;
    const double delay_s = path == MotionPath::predict ? 0.0 : 0.2;
    for (int i = 0; i < 2000; ++i) {
      now_s += random.uniform(0.0, 0.1);
      const State before = entity.shown(now_s - delay_s);
      const std::uint32_t jumps = entity.jumps();
      (void)entity.receive(any_motion(random, now_s - random.uniform(0.0, 0.3), 0, i % 2 == 0 ? 3.0 : 0.5),
                           now_s - delay_s, kChaseBlendS);
      if (entity.jumps() != jumps) continue;
      ++continuous;
      const State after = entity.shown(now_s - delay_s);
      ASSERT_LT(glm::distance(before.position, after.position), 1e-9) << i;
      ASSERT_LT(glm::distance(before.velocity, after.velocity), 1e-4f) << i;
      const State soon = entity.shown(now_s - delay_s + 1e-6);
      ASSERT_LT(glm::distance(soon.position, after.position), 6.0 * kTopMps * 1e-6 + 1e-9) << i;
    }
    EXPECT_GT(continuous, 1000);
  }
}

TEST(Chase, ShownVelocityMatchesTheShownPositions) {
  scenario::Random random(11);
  RemoteEntity entity(any_motion(random, 1.0));
  Watch watch(entity, kChaseStepS / 16.0);
  double now_s = 1.0;
  for (int i = 0; i < 200; ++i) {
    now_s += random.uniform(0.05, 0.5);
    watch.sample_until(now_s);
    (void)entity.receive(any_motion(random, now_s - 0.1), now_s, kChaseBlendS);
  }
  // The velocity changes by at most 16 m/s in a step of the chase, linearly, and thus by 1 m/s between
  // samples.
  EXPECT_LT(watch.worst_mismatch_mps(), kTopMps / 8.0);
}

BlendTime after_a_stall() {
  BlendTime time = kChaseBlendS;
  time.hurries = true;
  return time;
}

// After a stall, a chase reaches its motion within half a second, or it is not begun: the entity catches up
// faster, or jumps.
TEST(Chase, EndsInTime) {
  for (const double away_m : {0.3, 1.0, 1.9, 4.0, 6.0, 20.0}) {
    for (const double speed_mps : {0.0, 2.0, kTopMps}) {
      State standing;
      RemoteEntity entity(limited(standing, 1.0));
      State away;
      away.position = {away_m, 0.0, 0.0};
      away.velocity = {static_cast<float>(speed_mps), 0.0f, 0.0f};
      const Motion target = limited(away, 2.0);
      ASSERT_TRUE(entity.receive(target, 2.0, after_a_stall()));
      EXPECT_LT(glm::distance(entity.shown(2.5).position, state_at(target, 2.5).position), 0.05);
      EXPECT_LT(glm::distance(entity.shown(60.0).position, state_at(target, 60.0).position), 1e-6);
      if (away_m < 5.0) {
        EXPECT_EQ(entity.jumps(), 0u) << away_m << " " << speed_mps;
      }
      if (away_m > 10.0) {
        EXPECT_EQ(entity.jumps(), 1u) << away_m << " " << speed_mps;
      }
      // From then on, a correction within the limit is an ordinary blend.
      if (speed_mps > 0.5 * kTopMps) continue;
      State onward = state_at(target, 7.0);
      onward.position.y += 0.05;
      ASSERT_TRUE(entity.receive(limited(onward, 7.0), 7.0, kChaseBlendS));
      EXPECT_EQ(entity.blends().chase.start_s, Chase{}.start_s);
      EXPECT_EQ(entity.blends().catch_up.duration_s(), 0.0);
    }
  }
}

// A body that drives at its top speed, and was shown a metre behind, does not stay there.
TEST(Chase, DoesNotFollowATargetAtTheSpeedLimitForEver) {
  State run;
  run.velocity = {static_cast<float>(kTopMps), 0.0f, 0.0f};
  RemoteEntity entity(limited(run, 1.0));
  State ahead = state_at(limited(run, 1.0), 2.0);
  ahead.position.x += 1.0;
  const Motion target = limited(ahead, 2.0);
  ASSERT_TRUE(entity.receive(target, 2.0, after_a_stall()));
  for (double t = 2.5; t < 30.0; t += 0.5)
    EXPECT_LT(glm::distance(entity.shown(t).position, state_at(target, t).position), 1e-6) << t;
}

// The cost grows slowly with the length of the chase, also for an endless chase and for a clock that was set
// far ahead.
TEST(Chase, TakesFewStepsForAnyDuration) {
  Chase chase;
  chase.start_s = 0.0;
  for (const double time_s : {1.0, 60.0, 3600.0, 86400.0, 1e9}) {
    int steps = 0;
    const Chase::Point place = chase.at(time_s, kTopMps, [&](double t) {
      ++steps;
      State away;
      away.position = {2.0 * kTopMps * t, 0.0, 0.0};
      away.velocity = {2.0f * static_cast<float>(kTopMps), 0.0f, 0.0f};
      return away;
    });
    EXPECT_LT(steps, 64.0 * std::log(2.0 + time_s)) << time_s;
    EXPECT_NEAR(place.position.x, kTopMps * time_s, kTopMps);
  }
}

TEST(Chase, DistantLimitsDoNotChangeAnyBit) {
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    scenario::Random random(3);
    const test::Circle circle{.radius_m = 4.0, .turn_rps = 1.5};
    const auto at = [&](double time_s, bool has_limits) {
      Motion m{circle(time_s), time_s};
      if (has_limits) m.max_speed_mps = 1000.0f, m.world_size_m = 100'000.0f;
      return m;
    };
    RemoteEntity with(at(1.0, true), path);
    RemoteEntity without(at(1.0, false), path);
    for (int i = 1; i < 300; ++i) {
      const double now_s = 1.0 + 0.07 * i;
      const double stamp_s = now_s - random.uniform(0.0, 0.4);
      const double shown_s = path == MotionPath::predict ? now_s : now_s - 0.2;
      (void)with.receive(at(stamp_s, true), shown_s, kChaseBlendS);
      (void)without.receive(at(stamp_s, false), shown_s, kChaseBlendS);
      ASSERT_EQ(with.shown(shown_s + 0.03).position, without.shown(shown_s + 0.03).position);
      ASSERT_EQ(with.shown(shown_s + 0.03).velocity, without.shown(shown_s + 0.03).velocity);
      ASSERT_EQ(with.is_blended_prediction(), without.is_blended_prediction());
    }
  }
}

TEST(Chase, PredictionStopsAcceleratingAtTheSpeedLimit) {
  State start;
  start.velocity = {6.0f, 0.0f, 0.0f};
  start.acceleration = {4.0f, 0.0f, 0.0f};
  const Motion motion = limited(start, 1.0);
  RemoteEntity entity(motion);
  EXPECT_EQ(entity.shown(1.4).position, state_at(motion, 1.4).position);  // at 7.6 m/s
  EXPECT_NEAR(entity.shown(3.0).velocity.x, kTopMps, 1e-5);
  EXPECT_NEAR(entity.shown(3.0).position.x, 3.5 + 1.5 * kTopMps, 1e-6);
  EXPECT_FALSE(entity.is_blended_prediction());
}

TEST(Chase, ShownPositionStaysInsideTheWorld) {
  State start;
  start.position = {95.0, -99.0, 0.0};
  start.velocity = {5.0f, -5.0f, 0.0f};
  Motion motion = limited(start, 1.0);
  motion.world_size_m = 100.0f;
  RemoteEntity entity(motion);
  EXPECT_FALSE(entity.is_blended_prediction());
  for (double t = 1.0; t < 10.0; t += 0.1) {
    const glm::dvec3 p = glm::abs(entity.shown(t).position);
    EXPECT_LE(std::max({p.x, p.y, p.z}), 100.0);
  }
}

TEST(Chase, BeginsWhereTheCurveBecomesTooFast) {
  const glm::dvec3 slow{1.0, 0.0, 0.0};
  EXPECT_FALSE(first_faster(slow, slow, slow, 1.0));
  EXPECT_NEAR(first_faster(slow, 1.5 * slow, 2.0 * slow, 1.9).value_or(-1.0), 0.9, 0.002);
  EXPECT_EQ(first_faster(slow, slow, slow, 0.5), 0.0);
  // The largest speed of this curve is 2, while its control points reach 3.
  EXPECT_FALSE(first_faster(slow, 3.0 * slow, slow, 2.01));
  // 1 + 4 u (1 - u) is 1.75 at u = 0.25.
  EXPECT_NEAR(first_faster(slow, 3.0 * slow, slow, 1.75).value_or(-1.0), 0.25, 0.002);
}

}  // namespace
}  // namespace reckoner
