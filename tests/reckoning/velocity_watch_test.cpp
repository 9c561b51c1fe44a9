// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/velocity_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTickS = 1.0 / 60.0;

State check(VelocityWatch& watch, const State& given, double time_s,
            VelocitySource source = VelocitySource::automatic) {
  return watch.check(given, source, time_s, kTickS);
}

State circle(double t) {
  State s;
  s.position = {10.0 * std::cos(t), 10.0 * std::sin(t), 0.0};
  s.velocity = {static_cast<float>(-10.0 * std::sin(t)), static_cast<float>(10.0 * std::cos(t)), 0.0f};
  s.orientation = {static_cast<float>(std::cos(0.5 * t)), 0.0f, 0.0f, static_cast<float>(std::sin(0.5 * t))};
  s.angular_velocity = {0.0f, 0.0f, 1.0f};
  return s;
}

State without_rates(State s) {
  s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
  return s;
}

TEST(VelocityWatch, GivenVelocitiesAreUsedAsTheyAre) {
  for (const VelocitySource source : {VelocitySource::automatic, VelocitySource::given}) {
    VelocityWatch watch;
    for (int i = 0; i < 300; ++i) {
      const State given = circle(i * kTickS);
      const State used = check(watch, given, i * kTickS, source);
      EXPECT_EQ(used.velocity, given.velocity);
      EXPECT_EQ(used.angular_velocity, given.angular_velocity);
      EXPECT_EQ(watch.missing(), VelocityWatch::kNothing);
    }
  }
}

// Games that move entities in every tick, in every second or third, and ticks of other lengths.
TEST(VelocityWatch, MissingVelocitiesAreEstimated) {
  for (const double tick_s : {1.0 / 120.0, 1.0 / 60.0, 0.05, 0.125, 0.25}) {
    for (const int every : {1, 2, 3}) {
      if (every * tick_s > 0.1 && every > 1) continue;
      VelocityWatch watch;
      double worst_mps = 0.0, worst_rps = 0.0;
      State given;
      for (int i = 0; i < 200; ++i) {
        const double t = i * tick_s;
        if (i % every == 0) given = without_rates(circle(t));
        const State used = watch.check(given, VelocitySource::automatic, t, tick_s);
        if (i < 4 * every) continue;
        const State truth = circle(t - (i % every) * tick_s);
        worst_mps = std::max(worst_mps, static_cast<double>(glm::distance(used.velocity, truth.velocity)));
        worst_rps = std::max(worst_rps, static_cast<double>(std::abs(used.angular_velocity.z - 1.0f)));
        EXPECT_EQ(used.position, given.position);
      }
      // The error of a second-order estimate is about T^2 / 3 times the jerk, which is 10 m/s^3.
      const double interval_s = every * tick_s;
      EXPECT_LT(worst_mps, 0.01 + 5.0 * interval_s * interval_s) << tick_s << ' ' << every;
      EXPECT_LT(worst_rps, 0.01) << tick_s << ' ' << every;
    }
  }
}

TEST(VelocityWatch, EstimatesIgnoreWhatTheGameGives) {
  VelocityWatch watch;
  for (int i = 0; i < 100; ++i) {
    State given = circle(i * kTickS);
    given.velocity = {50.0f, -3.0f, 7.0f};
    given.angular_velocity = {9.0f, 0.0f, 0.0f};
    const State used = check(watch, given, i * kTickS, VelocitySource::estimated);
    if (i < 4) continue;
    EXPECT_LT(glm::distance(used.velocity, circle(i * kTickS).velocity), 0.02f);
    EXPECT_LT(glm::distance(used.angular_velocity, circle(0.0).angular_velocity), 0.01f);
  }
}

TEST(VelocityWatch, ZeroIsBelievedIfTheGameGivesVelocities) {
  VelocityWatch watch;
  for (int i = 0; i < 100; ++i) {
    const State used = check(watch, without_rates(circle(i * kTickS)), i * kTickS, VelocitySource::given);
    EXPECT_EQ(used.velocity, glm::vec3{0.0f});
  }
  EXPECT_EQ(watch.missing(), VelocityWatch::kVelocity | VelocityWatch::kAngularVelocity);
}

// One step is a jump, and not a motion: a crate that is pushed once, a spawn point, a heading that snaps.
TEST(VelocityWatch, JumpsAreNoMotion) {
  VelocityWatch watch;
  State s;
  for (int i = 0; i < 300; ++i) {
    if (i % 20 == 10) {
      s.position.x += i % 40 == 10 ? 0.01 : 50.0;
      s.orientation =
          i % 40 == 10 ? glm::quat{0.7071068f, 0.0f, 0.0f, 0.7071068f} : glm::quat{1.0f, 0.0f, 0.0f, 0.0f};
    }
    const State used = check(watch, s, i * kTickS);
    EXPECT_EQ(used.velocity, glm::vec3{0.0f}) << i;
    EXPECT_EQ(used.angular_velocity, glm::vec3{0.0f}) << i;
  }
}

TEST(VelocityWatch, JumpsOfMovingEntitiesAreNotInTheEstimate) {
  VelocityWatch watch;
  State s;
  for (int i = 0; i < 300; ++i) {
    s.position.x += 3.0 * kTickS;
    if (i % 30 == 17) s.position.y += 40.0;
    const State used = check(watch, s, i * kTickS);
    if (i > 3) {
      EXPECT_LT(glm::distance(used.velocity, glm::vec3{3.0f, 0.0f, 0.0f}), 0.01f) << i;
    }
  }
}

TEST(VelocityWatch, StopsAreSeenAtOnce) {
  VelocityWatch watch;
  State s;
  int late = 0;
  for (int i = 0; i < 100; ++i) {
    if (i < 50) s.position.x += 5.0 * kTickS;
    const State used = check(watch, s, i * kTickS);
    if (i > 50 && used.velocity.x != 0.0f) ++late;
    if (i == 49) {
      EXPECT_NEAR(used.velocity.x, 5.0f, 0.01f);
    }
  }
  EXPECT_LE(late, 1);
}

TEST(VelocityWatch, EntityThatDoesNotMoveWithItsVelocityRests) {
  VelocityWatch watch;
  State s;
  s.velocity = {10.0f, 0.0f, 0.0f};
  s.acceleration = {0.0f, 0.0f, -9.81f};
  s.angular_velocity = {0.0f, 0.0f, 2.0f};
  int rests_from = 0;
  for (int i = 0; i < 100; ++i) {
    const State used = check(watch, s, i * kTickS);
    const bool rests = used.velocity == glm::vec3{0.0f} && used.acceleration == glm::vec3{0.0f} &&
                       used.angular_velocity == glm::vec3{0.0f};
    if (rests && rests_from == 0) rests_from = i;
    EXPECT_TRUE(rests || rests_from == 0);
  }
  EXPECT_NEAR(rests_from * kTickS, VelocityWatch::kStillS, kTickS);
  // It moves again at once.
  s.position.x = 1.0;
  EXPECT_EQ(check(watch, s, 100 * kTickS).velocity.x, 10.0f);
}

// A sleeping entity is not checked; a game that gives the velocity a moment before it moves the entity must
// not see it ignored.
TEST(VelocityWatch, RestDoesNotCountAsStanding) {
  VelocityWatch watch;
  State s;
  (void)check(watch, s, 0.0);
  (void)check(watch, s, kTickS);
  s.velocity.x = 4.0f;
  EXPECT_EQ(check(watch, s, 100.0).velocity.x, 4.0f);
}

TEST(VelocityWatch, EstimateContinuesInOtherCoordinates) {
  VelocityWatch watch;
  State s;
  for (int i = 0; i < 100; ++i) {
    s.position.x += 2.0 * kTickS;
    if (i == 50) {
      s.position.x += 1000.0;
      State moved = s;
      moved.velocity.x = 2.0f;
      watch.restart(moved);
    }
    const State used = check(watch, s, i * kTickS);
    if (i > 3 && i != 50) {
      EXPECT_NEAR(used.velocity.x, 2.0f, 0.02f) << i;
    }
  }
}

// For any motion, also with gaps, jumps and noise, the result is finite, and positions never change.
TEST(VelocityWatch, IsFiniteForAnyInput) {
  std::uint64_t seed = 1;
  const auto random = [&] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 40) / static_cast<double>(1u << 24);
  };
  for (const VelocitySource source :
       {VelocitySource::automatic, VelocitySource::given, VelocitySource::estimated}) {
    VelocityWatch watch;
    double t = 0.0;
    State s;
    for (int i = 0; i < 20000; ++i) {
      t += random() < 0.1 ? 10.0 * random() : kTickS * random();
      if (random() < 0.5)
        s.position += glm::dvec3{random(), random(), -random()} * std::pow(10.0, 12.0 * random() - 6.0);
      s.velocity.x = random() < 0.5 ? 0.0f : static_cast<float>(random());
      const State used = check(watch, s, t, source);
      ASSERT_TRUE(is_sane(used)) << i;
      ASSERT_EQ(used.position, s.position);
      if (random() < 0.01) watch.restart(s);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
