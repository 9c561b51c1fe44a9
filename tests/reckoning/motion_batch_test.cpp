// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/motion_batch.hpp"

#include "random_states.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kPositionPart = 1e-9;  // relative to the size of the numbers
constexpr double kAngleRad = 1e-6;

struct Sample {
  Motion motion;
  Blend blend;
};

Sample draw(test::RandomStates& random) {
  Sample one;
  one.motion.state = random.state();
  one.motion.time_s = random.number(0.0, 1.0);
  one.motion.transition.bends = random.number(0.0, 1.0) < 0.2;
  if (random.number(0.0, 1.0) < 0.3) {
    State shown = random.state();
    shown.position = one.motion.state.position + random.vector(3.0);
    one.blend = Blend{shown, one.motion.state, random.number(0.5, 1.5), random.number(0.0, 1.0)};
  }
  return one;
}

State expected(const Sample& one, double time_s) {
  return one.blend.apply(state_at(one.motion, time_s), time_s);
}

void expect_same(const MotionBatch& batch, const std::vector<Sample>& all, double time_s) {
  ASSERT_EQ(batch.size(), all.size());
  std::vector<glm::dvec3> positions(all.size()), alone(all.size());
  std::vector<glm::quat> orientations(all.size());
  batch.sample(time_s, positions, orientations);
  batch.sample(time_s, alone);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const State state = expected(all[i], time_s);
    const double size_m = 1.0 + glm::length(state.position);
    ASSERT_LT(glm::distance(positions[i], state.position), kPositionPart * size_m) << i;
    ASSERT_EQ(alone[i], positions[i]) << i;
    ASSERT_LT(angle_between(orientations[i], state.orientation), kAngleRad) << i << " at " << time_s;
    ASSERT_NEAR(glm::length(orientations[i]), 1.0, 1e-6) << i;
  }
}

TEST(MotionBatch, IsEmptyAtFirst) {
  const MotionBatch batch;
  EXPECT_EQ(batch.size(), 0u);
  batch.sample(1.0, {}, {});
}

TEST(MotionBatch, AgreesWithSingleEntities) {
  test::RandomStates random(7);
  for (const std::size_t count : {1u, 2u, 3u, 255u, 256u, 257u, 5000u}) {
    MotionBatch batch;
    std::vector<Sample> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(draw(random));
      batch.push_back(all.back().motion, all.back().blend);
    }
    for (const double time_s : {-0.5, 0.0, 0.75, 1.0, 1.4, 3.0})
      expect_same(batch, all, time_s);
  }
}

// The series is accurate up to some angle only. Larger turns must be exact as well.
TEST(MotionBatch, TurnsOfAnySizeAreExact) {
  test::RandomStates random(8);
  MotionBatch batch;
  std::vector<Sample> all;
  for (int i = 0; i < 4000; ++i) {
    Sample one = draw(random);
    const double rate = 0.01 * i;  // up to 40 rad/s
    one.motion.state.angular_velocity = glm::vec3{rate * glm::normalize(random.vector(1.0))};
    all.push_back(one);
    batch.push_back(one.motion, one.blend);
  }
  for (const double time_s : {0.0, 0.5, 1.0, 2.0})
    expect_same(batch, all, time_s);
}

TEST(MotionBatch, FollowsEveryChange) {
  test::RandomStates random(9);
  MotionBatch batch;
  std::vector<Sample> all;
  for (int step = 0; step < 3000; ++step) {
    const double what = random.number(0.0, 1.0);
    if (all.empty() || what < 0.4) {
      all.push_back(draw(random));
      batch.push_back(all.back().motion, all.back().blend);
      continue;
    }
    const auto index = static_cast<std::size_t>(random.number(0.0, static_cast<double>(all.size())));
    if (what < 0.75) {
      all[index] = draw(random);
      batch.set(index, all[index].motion, all[index].blend);
    } else {
      all[index] = all.back();
      all.pop_back();
      batch.swap_remove(index);
    }
    if (step % 50 == 0) expect_same(batch, all, random.number(0.0, 2.0));
  }
  expect_same(batch, all, 1.0);
  const std::size_t blending = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Sample& one) { return !one.blend.over(1.2); }));
  batch.drop_blends(1.2);
  EXPECT_EQ(batch.blending(), blending);
  EXPECT_GT(blending, 10u);
  expect_same(batch, all, 1.2);
  expect_same(batch, all, 5.0);
  batch.clear();
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(batch.blending(), 0u);
}

TEST(MotionBatch, NormalisesOrientations) {
  MotionBatch batch;
  Motion motion;
  motion.state.orientation = 1.009f * glm::normalize(glm::quat{0.3f, 0.5f, -0.7f, 0.1f});
  ASSERT_TRUE(is_sane(motion.state));
  motion.state.angular_velocity = {1.0f, 2.0f, 3.0f};
  batch.push_back(motion);
  std::vector<glm::dvec3> positions(1);
  std::vector<glm::quat> orientations(1);
  batch.sample(0.3, positions, orientations);
  EXPECT_NEAR(glm::length(orientations[0]), 1.0, 1e-6);
}

}  // namespace
}  // namespace reckoner
