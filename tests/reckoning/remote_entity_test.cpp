// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

constexpr double kBlendS = 0.1;
const test::Circle kCircle{.radius_m = 4.0, .turn_rps = 1.5};

Motion motion_at(double time_s, std::uint8_t teleports = 0, const glm::dvec3& offset = glm::dvec3{0.0}) {
  Motion m{kCircle(time_s), time_s, teleports};
  m.state.position += offset;
  return m;
}

void expect_same_pose(const State& a, const State& b, double tolerance = 1e-9) {
  EXPECT_LT(glm::distance(a.position, b.position), tolerance);
  EXPECT_LT(glm::distance(a.velocity, b.velocity), 1e-5f + static_cast<float>(tolerance));
  EXPECT_LT(angle_between(a.orientation, b.orientation), 1e-3);
  EXPECT_LT(glm::distance(a.angular_velocity, b.angular_velocity), 1e-4f);
}

TEST(RemoteEntity, PredictionFollowsTheNewestMotion) {
  RemoteEntity entity(motion_at(1.0));
  expect_same_pose(entity.shown(1.3), state_at(motion_at(1.0), 1.3));
  EXPECT_TRUE(entity.receive(motion_at(1.2), 1.3, kBlendS));
  expect_same_pose(entity.shown(1.3 + kBlendS), state_at(motion_at(1.2), 1.3 + kBlendS));
}

TEST(RemoteEntity, IsContinuousForAnyArrivals) {
  // Motions arrive with errors, late, twice and out of order, on both paths. At every arrival, the pose and
  // its derivatives stay unchanged.
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    scenario::Random random(path == MotionPath::predict ? 1 : 2);
    RemoteEntity entity(motion_at(0.0), path);
    for (int i = 1; i < 500; ++i) {
      const double now_s = 0.05 * i;
      const double shown_s = path == MotionPath::predict ? now_s : now_s - 0.2;
      const double stamp_s = 0.05 * (i - static_cast<double>(random.below(9)));
      if (stamp_s <= 0.0) continue;
      const glm::dvec3 error{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      const State before = entity.shown(shown_s);
      (void)entity.receive(motion_at(stamp_s, 0, error), shown_s, kBlendS);
      expect_same_pose(entity.shown(shown_s), before);
    }
  }
}

TEST(RemoteEntity, LateAndRepeatedMotionsDoNotDisturbPrediction) {
  RemoteEntity entity(motion_at(1.0));
  ASSERT_TRUE(entity.receive(motion_at(2.0), 2.0, 0.0));
  EXPECT_FALSE(entity.receive(motion_at(2.0, 0, {5.0, 0.0, 0.0}), 2.1, kBlendS));
  EXPECT_TRUE(
      entity.receive(motion_at(1.5, 0, {5.0, 0.0, 0.0}), 2.1, kBlendS));  // kept for interpolation only
  for (double t = 2.1; t < 3.0; t += 0.05)
    expect_same_pose(entity.shown(t), state_at(motion_at(2.0), t));
}

TEST(RemoteEntity, OrderOfArrivalDoesNotMatterToInterpolation) {
  std::vector<double> stamps{1.0, 1.2, 1.3, 1.7, 1.8, 2.0};
  RemoteEntity sorted(motion_at(stamps[0]), MotionPath::interpolate);
  for (const double s : stamps)
    (void)sorted.receive(motion_at(s), 0.5, 0.0);
  scenario::Random random(9);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = stamps.size() - 1; i > 0; --i)
      std::swap(stamps[i], stamps[random.below(i + 1)]);
    RemoteEntity shuffled(motion_at(stamps[0]), MotionPath::interpolate);
    for (const double s : stamps)
      (void)shuffled.receive(motion_at(s), 0.5, 0.0);
    for (double t = 0.9; t < 2.2; t += 0.01)
      expect_same_pose(shuffled.shown(t), sorted.shown(t), 0.0 + 1e-12);
  }
}

TEST(RemoteEntity, InterpolationPassesThroughPositionsAndVelocities) {
  RemoteEntity entity(motion_at(1.0), MotionPath::interpolate);
  for (const double s : {1.3, 1.5, 2.1})
    ASSERT_TRUE(entity.receive(motion_at(s, 0, {0.1 * s, 0.0, 0.0}), 0.5, 0.0));
  for (const double s : {1.3, 1.5, 2.1}) {
    expect_same_pose(entity.shown(s), motion_at(s, 0, {0.1 * s, 0.0, 0.0}).state);
    expect_same_pose(entity.shown(s - 1e-7), entity.shown(s + 1e-7), 1e-4);  // C1 across the time stamp
  }
  // Between the motions, the shown pose is close to the truth. Its error is of fourth order in the gap.
  RemoteEntity fine(motion_at(1.0), MotionPath::interpolate);
  ASSERT_TRUE(fine.receive(motion_at(1.2), 0.5, 0.0));
  const double bound_m =
      kCircle.acceleration() * kCircle.turn_rps * kCircle.turn_rps * std::pow(0.2, 4) / 384.0;
  EXPECT_LT(glm::distance(fine.shown(1.1).position, kCircle(1.1).position), 1.1 * bound_m);
}

TEST(RemoteEntity, VelocityIsTheDerivativeOfTheShownPose) {
  RemoteEntity entity(motion_at(1.0), MotionPath::interpolate);
  ASSERT_TRUE(entity.receive(motion_at(1.4, 0, {0.3, 0.0, 0.0}), 0.5, 0.0));
  ASSERT_TRUE(entity.receive(motion_at(1.2, 0, {0.0, 0.2, 0.0}), 1.1, kBlendS));
  for (double t = 1.11; t < 1.39; t += 0.01) {
    const double h = 1e-5;
    const State a = entity.shown(t - h);
    const State b = entity.shown(t + h);
    const glm::dvec3 rate = (b.position - a.position) / (2.0 * h);
    EXPECT_LT(glm::distance(rate, glm::dvec3{entity.shown(t).velocity}), 1e-3) << t;
  }
}

TEST(RemoteEntity, BeforeItsFirstMotionItStandsStill) {
  RemoteEntity entity(motion_at(1.0), MotionPath::interpolate);
  const State s = entity.shown(0.2);
  EXPECT_EQ(s.position, motion_at(1.0).state.position);
  EXPECT_EQ(s.velocity, glm::vec3{0.0f});
}

TEST(RemoteEntity, HistoryForgetsTheOldestOnly) {
  RemoteEntity entity(motion_at(0.0), MotionPath::interpolate);
  for (int i = 1; i < 200; ++i) {
    ASSERT_TRUE(entity.receive(motion_at(0.1 * i), 0.1 * i - 0.2, kBlendS));
    EXPECT_DOUBLE_EQ(entity.newest().time_s, 0.1 * i);
  }
  EXPECT_NEAR(entity.oldest().time_s, 0.1 * (200 - RemoteEntity::kHistory), 1e-9);
  EXPECT_FALSE(entity.receive(motion_at(1.05), 19.7, kBlendS));  // older than the whole history
  for (double t = 18.0; t < 19.9; t += 0.037)
    EXPECT_LT(glm::distance(entity.shown(t).position, kCircle(t).position), 1e-3);
  // A late motion is inserted into the full history.
  EXPECT_TRUE(entity.receive(motion_at(19.05), 18.5, kBlendS));
  EXPECT_LT(glm::distance(entity.shown(19.05).position, kCircle(19.05).position), 1e-9);
}

TEST(RemoteEntity, ChangingThePathKeepsPositionAndVelocity) {
  RemoteEntity entity(motion_at(1.0));
  ASSERT_TRUE(entity.receive(motion_at(1.4, 0, {0.5, 0.0, 0.0}), 1.4, 0.0));
  ASSERT_TRUE(entity.receive(motion_at(1.8, 0, {0.0, 0.5, 0.0}), 1.5, kBlendS));
  MotionPath path = MotionPath::predict;
  for (double t = 1.5; t < 1.8; t += 0.04) {
    const State before = entity.shown(t);
    path = path == MotionPath::predict ? MotionPath::interpolate : MotionPath::predict;
    entity.set_path(path, t, kBlendS);
    expect_same_pose(entity.shown(t), before);
  }
}

// Beyond the newest motion, both paths show that motion, including a blend in progress.
TEST(RemoteEntity, ChangingThePathBeyondTheNewestMotionChangesNothing) {
  RemoteEntity entity(motion_at(1.0));
  ASSERT_TRUE(entity.receive(motion_at(1.4, 0, {0.5, 0.0, 0.0}), 1.5, kBlendS));
  RemoteEntity other = entity;
  other.set_path(MotionPath::interpolate, 1.52, kBlendS);
  for (double t = 1.52; t < 1.8; t += 0.01) {
    EXPECT_EQ(other.shown(t).position, entity.shown(t).position);
    EXPECT_EQ(other.shown(t).velocity, entity.shown(t).velocity);
    EXPECT_EQ(other.shown(t).orientation, entity.shown(t).orientation);
  }
}

TEST(RemoteEntity, CorrectionIsShownAndThenBlendedAway) {
  RemoteEntity entity(motion_at(1.0));
  State pushed = entity.shown(1.2);
  pushed.position.z += 0.5;
  pushed.velocity = glm::vec3{0.0f};
  entity.correct(pushed, 1.2, kBlendS);
  expect_same_pose(entity.shown(1.2), pushed);
  expect_same_pose(entity.shown(1.2 + kBlendS), state_at(motion_at(1.0), 1.2 + kBlendS));
}

// Motions that arrive meanwhile do not make it faster.
TEST(RemoteEntity, SlowCorrectionKeepsItsEnd) {
  constexpr double kSlowS = 0.8, kOffM = 2.0, kFromS = 1.2;
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    scenario::Random random(3);
    RemoteEntity entity(motion_at(1.0), path);
    State pushed = entity.shown(kFromS);
    pushed.position.z += kOffM;
    entity.correct_slowly(pushed, kFromS, kSlowS);
    expect_same_pose(entity.shown(kFromS), pushed);
    double fastest_mps = 0.0;
    for (int i = 1; kFromS + 0.05 * i < kFromS + kSlowS; ++i) {
      const double time_s = kFromS + 0.05 * i;
      const State before = entity.shown(time_s);
      (void)entity.receive(motion_at(time_s - 0.01, 0, {0.0, 0.0, 0.01 * random.uniform(-1.0, 1.0)}), time_s,
                           kBlendS);
      expect_same_pose(entity.shown(time_s), before, 1e-6);
      fastest_mps = std::max(fastest_mps, std::abs(double{before.velocity.z}));
    }
    EXPECT_LT(fastest_mps, 1.5 * kOffM / kSlowS + 1.0);
    EXPECT_GT(fastest_mps, 1.2 * kOffM / kSlowS);
    EXPECT_LT(std::abs(entity.shown(kFromS + kSlowS + kBlendS).position.z), 0.02);
  }
}

TEST(RemoteEntity, TeleportSnapsOnBothPathsAndEndsABlend) {
  const glm::dvec3 away{100.0, 0.0, 0.0};
  RemoteEntity predicted(motion_at(1.0));
  ASSERT_TRUE(predicted.receive(motion_at(1.2, 0, {1.0, 0.0, 0.0}), 1.2, kBlendS));  // a blend is in progress
  ASSERT_TRUE(predicted.receive(motion_at(1.25, 1, away), 1.25, kBlendS));
  EXPECT_EQ(predicted.teleports(1.25), 1);
  for (double t = 1.25; t < 1.5; t += 0.01)
    expect_same_pose(predicted.shown(t), state_at(motion_at(1.25, 1, away), t));

  RemoteEntity buffered(motion_at(1.0), MotionPath::interpolate);
  ASSERT_TRUE(buffered.receive(motion_at(1.2), 1.0, kBlendS));
  ASSERT_TRUE(buffered.receive(motion_at(1.6, 1, away), 1.1, kBlendS));
  ASSERT_TRUE(buffered.receive(motion_at(1.8, 1, away), 1.1, kBlendS));
  for (double t = 1.0; t < 2.0; t += 0.003) {
    const double x = buffered.shown(t).position.x;
    EXPECT_TRUE(x < 10.0 || x > 90.0) << t;
    EXPECT_EQ(x > 90.0, t >= 1.6) << t;
    EXPECT_EQ(buffered.teleports(t), t >= 1.6 ? 1 : 0);
  }
}

TEST(RemoteEntity, TeleportCounterMayWrap) {
  RemoteEntity entity(motion_at(0.0, 255));
  ASSERT_TRUE(entity.receive(motion_at(0.5, 0, {100.0, 0.0, 0.0}), 0.5, kBlendS));
  EXPECT_GT(entity.shown(0.5).position.x, 90.0);
}

TEST(RemoteEntity, LateMotionFromBeforeATeleportHasNoEffect) {
  const glm::dvec3 away{100.0, 0.0, 0.0};
  RemoteEntity entity(motion_at(1.0));
  ASSERT_TRUE(entity.receive(motion_at(1.4, 1, away), 1.4, kBlendS));
  EXPECT_TRUE(entity.receive(motion_at(1.2, 0), 1.45, kBlendS));
  for (double t = 1.45; t < 1.7; t += 0.01)
    EXPECT_GT(entity.shown(t).position.x, 90.0);
}

}  // namespace
}  // namespace reckoner
