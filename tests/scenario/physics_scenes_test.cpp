// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/physics_scenes.hpp"

#include "scenario/builtin/builtin.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

class PhysicsScenes : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_physics()) GTEST_SKIP() << "this build has no physics engine (Bullet)";
  }
};

PhysicsRecording record(const PhysicsSceneOptions& options) {
  auto recording = record_physics_scene(options);
  EXPECT_TRUE(recording) << recording.error();
  return recording ? std::move(*recording) : PhysicsRecording{};
}

bool equal_bits(const Recording& a, const Recording& b) {
  return std::ranges::equal(a.entities, b.entities, [](const auto& left, const auto& right) {
    return left.id == right.id &&
           std::ranges::equal(left.samples, right.samples, [](const TrackSample& x, const TrackSample& y) {
             return x.time_s == y.time_s && x.position == y.position && x.orientation == y.orientation;
           });
  });
}

// 250 bodies: the ball has a radius of 31.5 m.
TEST_F(PhysicsScenes, AsteroidsFlyThroughTheBallAndCollide) {
  const PhysicsRecording recording = record({.scene = "asteroids", .settling_s = 20.0, .seconds = 2.0});
  ASSERT_EQ(recording.motion.entities.size(), 250u);
  EXPECT_TRUE(recording.motion.has_orientation);
  EXPECT_TRUE(recording.interacting.empty());
  std::size_t collisions = 0;
  for (const Recording::Entity& body : recording.motion.entities) {
    ASSERT_EQ(body.samples.size(), 120u);
    EXPECT_EQ(body.samples.front().time_s, 1.0 / 60.0);
    EXPECT_EQ(body.samples.back().time_s, 2.0);
    glm::dvec3 velocity_before(0.0);
    for (std::size_t k = 0; k < body.samples.size(); ++k) {
      const TrackSample& now = body.samples[k];
      EXPECT_GT(glm::length(now.position), 5.0) << "inside the sphere at the centre";
      EXPECT_LT(glm::length(now.position), 31.5 + 5.0) << "far outside the ball";
      EXPECT_NEAR(glm::length(now.orientation), 1.0, 1e-6);
      if (k == 0) continue;
      const glm::dvec3 velocity = 60.0 * (now.position - body.samples[k - 1].position);
      EXPECT_LT(glm::length(velocity), 8.0);
      // Steering changes the velocity by at most 10/60 m/s in a step.
      if (k > 1 && glm::length(velocity - velocity_before) > 0.5) ++collisions;
      velocity_before = velocity;
    }
  }
  EXPECT_GT(collisions, 5u);
}

TEST_F(PhysicsScenes, EqualSeedsGiveEqualBits) {
  for (const char* scene : {"asteroids", "cubes"}) {
    PhysicsSceneOptions options{.scene = scene, .settling_s = 1.0, .seconds = 1.5};
    const PhysicsRecording once = record(options);
    const PhysicsRecording again = record(options);
    EXPECT_TRUE(equal_bits(once.motion, again.motion)) << scene;
    EXPECT_EQ(once.interacting, again.interacting) << scene;
    options.seed = 2;
    EXPECT_FALSE(equal_bits(once.motion, record(options).motion)) << scene;
  }
}

TEST_F(PhysicsScenes, CubesRestUntilThePlayerTouchesThem) {
  const PhysicsRecording recording = record({.scene = "cubes", .seconds = 4.0});
  const auto& bodies = recording.motion.entities;
  ASSERT_EQ(bodies.size(), 901u);
  ASSERT_EQ(recording.interacting.size(), 901u * 240u);
  EXPECT_EQ(bodies[0].id, "player");
  EXPECT_NEAR(bodies[0].samples.front().position.z, 10.0, 0.02);
  std::size_t moved = 0;
  std::ptrdiff_t sunk = 0;
  for (std::size_t i = 1; i < bodies.size(); ++i) {
    const TrackSample& first = bodies[i].samples.front();
    const TrackSample& last = bodies[i].samples.back();
    EXPECT_NEAR(first.position.z, 0.2, 1e-6);
    EXPECT_NEAR(first.position.x, std::round(first.position.x - 0.5) + 0.5, 1e-6);
    moved += last.position != first.position ? 1 : 0;
    sunk += std::ranges::count_if(bodies[i].samples, [](const auto& s) { return s.position.z < 0.1; });
  }
  EXPECT_LT(sunk, 900) << "the player presses a few cubes into the ground for a moment";
  EXPECT_GT(moved, 3u);
  EXPECT_LT(moved, 300u);
  const auto touched = [&](std::size_t sample) {
    return std::count_if(recording.interacting.begin() + static_cast<std::ptrdiff_t>(901 * sample),
                         recording.interacting.begin() + static_cast<std::ptrdiff_t>(901 * (sample + 1)),
                         [](bool touches) { return touches; });
  };
  EXPECT_EQ(touched(30), 1) << "the player touches itself only, because it falls from 10 m";
  EXPECT_GT(touched(239), 1);
}

TEST_F(PhysicsScenes, HaveAtLeastOneSample) {
  for (const char* scene : {"asteroids", "cubes"}) {
    const PhysicsRecording recording = record({.scene = scene, .settling_s = 0.0, .seconds = 1e-6});
    ASSERT_FALSE(recording.motion.entities.empty());
    EXPECT_EQ(recording.motion.entities.front().samples.size(), 1u) << scene;
  }
}

TEST_F(PhysicsScenes, RefusesImpossibleOptions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(record_physics_scene({.scene = "asteroids", .bodies = 10'001}));
  EXPECT_FALSE(record_physics_scene({.scene = "asteroids", .bodies = 1, .settling_s = nan}));
  EXPECT_FALSE(record_physics_scene({.scene = "asteroids", .bodies = 1, .settling_s = -1.0}));
  EXPECT_FALSE(record_physics_scene({.scene = "cubes", .seconds = 3601.0}));
  EXPECT_FALSE(record_physics_scene({.scene = "spheres"}));
  const auto cubes = make_builtin("cubes", 5);
  ASSERT_FALSE(cubes);
  EXPECT_EQ(cubes.error(), "the scenario cubes always has 901 bodies");
}

TEST(PhysicsScenesWithoutBullet, FailWithAnExplanation) {
  if (has_physics()) GTEST_SKIP() << "this build has a physics engine";
  for (const BuiltinInfo& info : physics_scenarios()) {
    const auto source = make_builtin(info.name);
    ASSERT_FALSE(source);
    EXPECT_NE(source.error().find("needs the physics engine Bullet"), std::string::npos) << source.error();
  }
}

}  // namespace
}  // namespace reckoner::scenario
