// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/wall_contact.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/walls.hpp>

namespace reckoner::test {
namespace {

constexpr double kFrameS = 1.0 / 240.0;

// A wall in front of a body that moves along x: its face is at x = 5, and it ends at y = 10 and y = -10.
Walls one_wall() {
  return {.boxes = {{.centre = {5.5, 0.0, 0.0}, .half_size = {0.5, 10.0, 10.0}}}};
}

Motion driving(const Walls* walls, const glm::vec3& velocity,
               const glm::vec3& acceleration = glm::vec3{0.0f}) {
  State state;
  state.velocity = velocity;
  state.acceleration = acceleration;
  Motion motion{.state = state};
  motion.walls = walls;
  return motion;
}

bool is_in(const Walls& walls, const glm::dvec3& at, double slack_m = 1e-6) {
  return std::any_of(walls.boxes.begin(), walls.boxes.end(), [&](const WallBox& box) {
    const glm::dvec3 local = glm::conjugate(glm::dquat{box.orientation}) * (at - box.centre);
    const glm::dvec3 off = glm::abs(local) - box.half_size - glm::dvec3{walls.margin_m - slack_m};
    return off.x < 0.0 && off.y < 0.0 && off.z < 0.0;
  });
}

TEST(Walls, FreeMotionIsUnchanged) {
  const Walls walls = one_wall();
  for (const double t : {-1.0, 0.0, 0.4, 0.49}) {
    const State with = state_at(driving(&walls, {10.0f, 1.0f, 0.0f}), t);
    const State without = state_at(driving(nullptr, {10.0f, 1.0f, 0.0f}), t);
    EXPECT_EQ(with.position, without.position);
    EXPECT_EQ(with.velocity, without.velocity);
    EXPECT_EQ(with.orientation, without.orientation);
  }
}

TEST(Walls, BodySlidesAlongTheWall) {
  const Walls walls = one_wall();
  const State at = state_at(driving(&walls, {10.0f, 4.0f, 0.0f}), 1.5);
  EXPECT_LT(glm::distance(at.position, glm::dvec3(5.0, 6.0, 0.0)), 1e-9);
  EXPECT_LT(glm::distance(at.velocity, glm::vec3(0.0f, 4.0f, 0.0f)), 1e-5f);
}

// The body leaves the end of the wall with its velocity along the wall. Without a memory of the hit, it would
// jump to where it would be without the wall.
TEST(Walls, NothingJumpsWhereTheWallEnds) {
  const Walls walls = one_wall();
  const Motion motion = driving(&walls, {10.0f, 8.0f, 0.0f}, {0.0f, 0.0f, -1.0f});
  glm::dvec3 before = motion.state.position;
  for (double t = kFrameS; t < 4.0; t += kFrameS) {
    const State now = state_at(motion, t);
    EXPECT_LT(glm::distance(now.position, before), 15.0 * kFrameS) << t;
    EXPECT_LE(now.position.x, 5.0 + 1e-9);
    before = now.position;
  }
  EXPECT_GT(before.y, 30.0);
}

TEST(Walls, MarginKeepsTheDistance) {
  Walls walls = one_wall();
  walls.margin_m = 0.75;
  EXPECT_NEAR(state_at(driving(&walls, {10.0f, 0.0f, 0.0f}), 3.0).position.x, 4.25, 1e-9);
}

TEST(Walls, BodyInACornerRests) {
  Walls walls = one_wall();
  walls.boxes.push_back({.centre = {0.0, 3.5, 0.0}, .half_size = {20.0, 0.5, 10.0}});
  const State at = state_at(driving(&walls, {10.0f, 4.0f, 0.0f}), 3.0);
  EXPECT_LT(glm::distance(at.position, glm::dvec3(5.0, 3.0, 0.0)), 1e-6);
  EXPECT_LT(glm::length(at.velocity), 1e-4f);
}

TEST(Walls, BrakingBodyDoesNotReverse) {
  const Walls walls = one_wall();
  Motion motion = driving(&walls, {10.0f, 3.0f, 0.0f}, {-4.0f, -1.2f, 0.0f});
  motion.never_reverses = true;
  glm::dvec3 before{0.0};
  for (double t = 0.0; t < 6.0; t += 0.01) {
    const State now = state_at(motion, t);
    EXPECT_LE(now.position.x, 5.0 + 1e-9);
    EXPECT_GE(now.position.x, before.x - 1e-6) << t;
    EXPECT_GE(now.position.y, before.y - 1e-6) << t;
    before = now.position;
  }
  EXPECT_EQ(state_at(motion, 6.0).velocity, glm::vec3{0.0f});
}

TEST(Walls, HoldOnlyForFreeMotionInTheWorld) {
  const Walls walls = one_wall();
  Motion motion = driving(&walls, {10.0f, 0.0f, 0.0f});
  motion.frame = FrameId{7};
  EXPECT_NEAR(state_at(motion, 1.0).position.x, 10.0, 1e-9);
}

// Positions on the wire are rounded: a body that touches a wall may seem to be a few millimetres inside.
TEST(Walls, BodyThatTouchesAWallDoesNotPassIt) {
  const Walls walls = one_wall();
  for (const double depth_m : {-0.01, 0.0, 0.004, 0.03}) {
    Motion motion = driving(&walls, {10.0f, 2.0f, 0.0f});
    motion.state.position.x = 5.0 + depth_m;
    EXPECT_NEAR(state_at(motion, 1.0).position.x, 5.0 + std::max(0.0, depth_m), 1e-9) << depth_m;
    EXPECT_NEAR(RemoteEntity{motion}.shown(1.0).position.x, 5.0, 1e-9) << depth_m;
    motion.state.velocity.x = -10.0f;
    EXPECT_NEAR(state_at(motion, 1.0).position.x, depth_m - 5.0, 1e-9) << depth_m;
  }
}

TEST(Walls, BodyThatTheServerPutsIntoABoxIgnoresIt) {
  const Walls walls = one_wall();
  Motion motion = driving(&walls, {1.0f, 0.0f, 0.0f});
  motion.state.position.x = 5.5;
  EXPECT_NEAR(state_at(motion, 2.0).position.x, 7.5, 1e-9);
  const RemoteEntity entity{motion};
  EXPECT_NEAR(entity.shown(0.2).position.x, 5.7, 1e-9);
}

TEST(Walls, FunctionDecidesWhatIsReached) {
  const Walls walls{.reach = [](const glm::dvec3& from, const glm::dvec3& to) {
    EXPECT_LE(glm::length(from), 8.0 + 1e-9);  // a round arena
    const double r = glm::length(to);
    return r > 8.0 ? to * (8.0 / r) : to;
  }};
  const State at = state_at(driving(&walls, {10.0f, 0.0f, 0.0f}), 2.0);
  EXPECT_NEAR(at.position.x, 8.0, 1e-9);
  EXPECT_EQ(at.velocity.x, 0.0f);
  EXPECT_NEAR(state_at(driving(&walls, {10.0f, 0.0f, 0.0f}), 0.5).position.x, 5.0, 1e-9);
  const Walls broken{.reach = [](const glm::dvec3&, const glm::dvec3&) {
    return glm::dvec3{std::numeric_limits<double>::quiet_NaN()};
  }};
  EXPECT_NEAR(state_at(driving(&broken, {10.0f, 0.0f, 0.0f}), 2.0).position.x, 20.0, 1e-9);
}

Walls random_walls(std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Walls walls{.margin_m = 0.3};
  for (int i = 0; i < 6; ++i) {
    const glm::dvec3 at{12.0 * unit(random), 12.0 * unit(random), 12.0 * unit(random)};
    const glm::dvec3 size{1.0 + std::abs(unit(random)), 1.0 + 3.0 * std::abs(unit(random)), 1.5};
    const glm::dquat turn =
        glm::normalize(glm::dquat{unit(random), unit(random), unit(random), 1.1 + unit(random)});
    if (glm::length(at) > glm::length(size) + 0.5) walls.boxes.push_back({at, size, glm::quat{turn}});
  }
  return walls;
}

// For any boxes and any motion: the position is continuous, never in a box, the velocity is its derivative
// except at hits, and a shorter extrapolation is a part of a longer one.
TEST(Walls, AnyMotionIsContinuousAndInFront) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  int hits = 0;
  for (int round = 0; round < 900; ++round) {
    const Walls walls = random_walls(random);
    const Motion motion = driving(&walls, {15.0f * unit(random), 15.0f * unit(random), 15.0f * unit(random)},
                                  {8.0f * unit(random), 8.0f * unit(random), -9.81f});
    State before = state_at(motion, 0.0);
    double fastest_mps = glm::length(before.velocity);
    for (double t = kFrameS; t < 2.0; t += kFrameS) {
      const State now = state_at(motion, t);
      fastest_mps = std::max<double>(fastest_mps, glm::length(glm::dvec3{motion.state.velocity}) + 20.0 * t);
      ASSERT_FALSE(is_in(walls, now.position)) << round << ' ' << t;
      ASSERT_LT(glm::distance(now.position, before.position), fastest_mps * kFrameS + 1e-6)
          << round << ' ' << t;
      const glm::dvec3 mean = (now.position - before.position) / kFrameS;
      const bool hit = glm::distance(now.velocity, before.velocity) > 0.2f;
      hits += hit ? 1 : 0;
      if (!hit) {
        ASSERT_LT(glm::distance(mean, 0.5 * (glm::dvec3{now.velocity} + glm::dvec3{before.velocity})), 0.05);
      }
      before = now;
    }
  }
  EXPECT_GT(hits, 50);  // 90 or a little more, by the rounding of the processor
}

// A ball bounces; the update about it is late. What is shown stays in front of the wall and is continuous.
TEST(Walls, ShownBodyStaysInFrontWhileUpdatesAreLate) {
  const Walls walls = one_wall();
  for (const MotionPath path : {MotionPath::predict, MotionPath::interpolate}) {
    for (const double late_s : {0.02, 0.1, 0.25, 0.6}) {
      RemoteEntity entity{driving(&walls, {20.0f, 5.0f, 0.0f}), path};
      Motion away = driving(&walls, {-16.0f, 5.0f, 0.0f});
      away.state.position = {4.9, 1.25, 0.0};
      away.time_s = 0.256;
      bool received = false;
      State before = entity.shown(0.0);
      for (double t = kFrameS; t < 1.5; t += kFrameS) {
        if (!received && t > away.time_s + late_s) {
          (void)entity.receive(away, t, 0.1);
          received = true;
        }
        const State now = entity.shown(t);
        EXPECT_LE(now.position.x, 5.0 + 1e-6) << t << ' ' << late_s;
        EXPECT_LT(glm::distance(now.position, before.position), (60.0 + 320.0 * late_s) * kFrameS + 1e-6)
            << t << ' ' << late_s;
        before = now;
      }
      EXPECT_LT(glm::distance(before.position, state_at(away, 1.5 - kFrameS).position), 0.2);
    }
  }
}

// The update says that the body has gone around the wall. It must not jump to the other side.
TEST(Walls, BlendThatBeginsBehindAWallPassesThroughIt) {
  const Walls walls = one_wall();
  RemoteEntity entity{driving(&walls, {20.0f, 0.0f, 0.0f})};
  Motion behind = driving(&walls, {1.0f, 0.0f, 0.0f});
  behind.state.position = {6.4, 0.0, 0.0};
  behind.time_s = 0.5;
  State before = entity.shown(0.5);
  EXPECT_TRUE(entity.receive(behind, 0.5, 0.1));
  for (double t = 0.5; t < 1.0; t += kFrameS) {
    const State now = entity.shown(t);
    EXPECT_LT(glm::distance(now.position, before.position), 40.0 * kFrameS) << t;
    before = now;
  }
  EXPECT_GT(before.position.x, 6.5);
}

TEST(Walls, FadingBodyStaysInFront) {
  const Walls walls = one_wall();
  RemoteEntity entity{driving(&walls, {10.0f, 1.0f, 0.0f})};
  entity.set_valid_until(0.3, 0.2, 0.1);
  for (double t = 0.2; t < 2.0; t += kFrameS)
    EXPECT_LE(entity.shown(t).position.x, 5.0 + 1e-9);
  EXPECT_EQ(entity.shown(2.0).velocity, glm::vec3{0.0f});
}

TEST(Walls, EntitiesWithWallsAreNotBatched) {
  const Walls walls = one_wall();
  EXPECT_TRUE(RemoteEntity{driving(nullptr, {1.0f, 0.0f, 0.0f})}.is_blended_prediction());
  EXPECT_FALSE(RemoteEntity{driving(&walls, {1.0f, 0.0f, 0.0f})}.is_blended_prediction());
}

}  // namespace
}  // namespace reckoner::test
