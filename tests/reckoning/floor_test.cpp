// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/floor.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner::test {
namespace {

constexpr double kFrameS = 1.0 / 240.0;

Floor hills() {
  return {.height = [](const glm::dvec3& p) { return std::sin(0.3 * p.x) + 0.5 * std::cos(0.2 * p.y); }};
}

// A body that is thrown from a height of 2 m and falls through any ground.
Motion thrown(const Floor* floor) {
  State state;
  state.position = {0.0, 0.0, 2.0};
  state.velocity = {7.0f, -3.0f, 2.0f};
  state.acceleration = {0.0f, 0.0f, -9.81f};
  return {.state = state, .floor = floor};
}

TEST(Floor, StateAboveItIsUnchanged) {
  const State state = thrown(nullptr).state;
  for (const Floor& floor : {Floor{}, Floor{.height_m = 2.0}, hills()}) {
    const State same = above_floor(state, floor);
    EXPECT_EQ(same.position, state.position);
    EXPECT_EQ(same.velocity, state.velocity);
    EXPECT_EQ(same.acceleration, state.acceleration);
  }
}

TEST(Floor, PlaneMayBeTilted) {
  const glm::dvec3 up = glm::normalize(glm::dvec3{1.0, 2.0, 2.0});
  const Floor floor{.up = up, .height_m = 3.0};
  State state;
  state.position = {0.5, 0.1, 0.2};
  state.velocity = {3.0f, -8.0f, -8.0f};
  const State out = above_floor(state, floor);
  EXPECT_NEAR(glm::dot(out.position, up), 3.0, 1e-12);
  EXPECT_NEAR(glm::dot(glm::dvec3{out.velocity}, up), 0.0, 1e-6);
  const glm::dvec3 moved = out.position - state.position;
  EXPECT_NEAR(glm::distance(moved, glm::dot(moved, up) * up), 0.0, 1e-12) << "straight up";
}

// On the ground the velocity is the derivative of the position. Otherwise a blend from such a state would
// not be smooth.
TEST(Floor, VelocityFollowsTheGround) {
  const Floor terrain = hills();
  const Floor plane{.height_m = -1.0};
  for (const Floor* floor : {&plane, &terrain}) {
    const Motion motion = thrown(floor);
    int on_ground = 0;
    for (double t = 0.0; t < 4.0; t += 0.01) {
      constexpr double kStepS = 1e-3;
      const State before = state_at(motion, t - kStepS);
      const State now = state_at(motion, t);
      const State after = state_at(motion, t + kStepS);
      const Motion without = thrown(nullptr);
      if (state_at(without, t - kStepS).position.z > before.position.z - 1e-9) continue;  // still in the air
      ++on_ground;
      const glm::dvec3 slope = (after.position - before.position) / (2.0 * kStepS);
      EXPECT_LT(glm::distance(slope, glm::dvec3{now.velocity}), 0.08) << t;
      EXPECT_GE(now.acceleration.z, 0.0f);
    }
    EXPECT_GT(on_ground, 200);
  }
}

TEST(Floor, HolesHaveNoGround) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double nothing : {-infinity, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    const Floor hole{.height = [nothing](const glm::dvec3& p) { return p.x > 7.0 ? nothing : 0.0; }};
    const Motion motion = thrown(&hole);
    EXPECT_EQ(state_at(motion, 0.95).position.z, 0.0);
    EXPECT_EQ(state_at(motion, 3.0).position, state_at(thrown(nullptr), 3.0).position);
    EXPECT_TRUE(std::isfinite(state_at(motion, 0.99).velocity.z)) << "at the edge";
  }
}

TEST(Floor, HoldsOnlyForFreeMotionInTheWorld) {
  const Floor floor;
  Motion motion = thrown(&floor);
  EXPECT_EQ(state_at(motion, 2.0).position.z, 0.0);
  motion.frame = FrameId{7};
  EXPECT_LT(state_at(motion, 2.0).position.z, -10.0);
  motion.frame = {};
  motion.floor = nullptr;
  EXPECT_LT(state_at(motion, 2.0).position.z, -10.0);
}

// The update about the landing arrives late. The shown body never sinks, and its position and horizontal
// velocity stay continuous, on both paths.
TEST(Floor, ShownLandingNeverSinks) {
  const Floor terrain = hills();
  const Floor plane;
  for (const Floor* floor : {&plane, &terrain}) {
    for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
      RemoteEntity entity{thrown(floor), path};
      Motion landed = state_at(thrown(floor), 1.1).position.z < 2.0 ? thrown(floor) : Motion{};
      landed.state = state_at(thrown(floor), 1.1);
      landed.state.velocity.x -= 1.0f;
      landed.time_s = 1.1;
      bool received = false;
      glm::dvec3 before = entity.shown(0.0).position;
      for (double t = kFrameS; t < 3.0; t += kFrameS) {
        if (!received && t > 1.3) {
          (void)entity.receive(landed, t, 0.2);
          received = true;
        }
        const State shown = entity.shown(t);
        const double ground = floor->height ? floor->height(shown.position) : floor->height_m;
        EXPECT_GE(shown.position.z, ground - 1e-9) << t;
        EXPECT_LT(glm::distance(shown.position, before), 16.0 * kFrameS) << t;
        before = shown.position;
      }
    }
  }
}

TEST(Floor, EntitiesWithAFloorAreNotBatched) {
  const Floor floor;
  EXPECT_TRUE(RemoteEntity{thrown(nullptr)}.is_blended_prediction());
  EXPECT_FALSE(RemoteEntity{thrown(&floor)}.is_blended_prediction());
}

}  // namespace
}  // namespace reckoner::test
