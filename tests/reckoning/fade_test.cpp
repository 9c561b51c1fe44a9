// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"

#include <cmath>
#include <random>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

constexpr double kWholeS = kFadeAccelerationS + kFadeVelocityS;

class Motions {
 public:
  explicit Motions(std::uint64_t seed) : random_(seed) {}

  double number(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  glm::vec3 vector(double size) {
    return glm::vec3{glm::dvec3{number(-size, size), number(-size, size), number(-size, size)}};
  }
  Motion any() {
    Motion motion;
    motion.time_s = number(0.0, 100.0);
    motion.state.position = glm::dvec3{vector(1000.0)};
    motion.state.velocity = vector(20.0);
    motion.state.acceleration = vector(40.0);
    motion.state.orientation = glm::quat{rotation_exp(glm::dvec3{vector(2.0)})};
    motion.state.angular_velocity = vector(5.0);
    return motion;
  }

 private:
  std::mt19937_64 random_;
};

double distance(const State& a, const State& b) {
  return glm::distance(a.position, b.position);
}
double size(const glm::vec3& v) {
  return glm::length(glm::dvec3{v});
}

TEST(Fade, ChangesNothingWhileTheMotionHolds) {
  Motions motions(1);
  for (int i = 0; i < 100; ++i) {
    const Motion motion = motions.any();
    const double time_s = motion.time_s + motions.number(0.0, 3.0);
    for (const double until_s : {time_s, time_s + 1.0, kAlwaysValid}) {
      const State shown = faded_state(motion, until_s, time_s);
      const State unfaded = state_at(motion, time_s);
      EXPECT_EQ(shown.position, unfaded.position);
      EXPECT_EQ(shown.velocity, unfaded.velocity);
      EXPECT_EQ(shown.orientation, unfaded.orientation);
    }
  }
}

TEST(Fade, IsContinuousWithCorrectDerivatives) {
  Motions motions(2);
  constexpr double kStepS = 1e-4;
  for (int i = 0; i < 50; ++i) {
    const Motion motion = motions.any();
    const double until_s = motion.time_s + motions.number(0.0, 2.0);
    const double speed = 20.0 + 40.0 * (until_s - motion.time_s + kWholeS);
    State before = faded_state(motion, until_s, until_s - 0.1);
    for (double t = -0.1 + kStepS; t < kWholeS + 0.2; t += kStepS) {
      const State now = faded_state(motion, until_s, until_s + t);
      const glm::dvec3 moved = (now.position - before.position) / kStepS;
      const glm::dvec3 gained = (glm::dvec3{now.velocity} - glm::dvec3{before.velocity}) / kStepS;
      const glm::dvec3 velocity = 0.5 * (glm::dvec3{now.velocity} + glm::dvec3{before.velocity});
      const glm::dvec3 acceleration = 0.5 * (glm::dvec3{now.acceleration} + glm::dvec3{before.acceleration});
      // The position's slope is the velocity, and the velocity's slope is the acceleration.
      ASSERT_LT(glm::distance(moved, velocity), 1e-3 * speed) << t;
      ASSERT_LT(glm::distance(gained, acceleration), 0.05 * speed) << t;
      ASSERT_LT(angle_between(now.orientation, before.orientation), 1e-3 + 10.0 * kStepS) << t;
      before = now;
    }
  }
}

TEST(Fade, AccelerationFadesThenVelocityThenItRests) {
  Motions motions(3);
  for (int i = 0; i < 100; ++i) {
    const Motion motion = motions.any();
    const double until_s = motion.time_s + motions.number(0.0, 2.0);
    const auto at = [&](double t) { return faded_state(motion, until_s, until_s + t); };
    double acceleration = size(at(0.0).acceleration);
    for (double t = 0.01; t < kFadeAccelerationS; t += 0.01) {
      const State s = at(t);
      EXPECT_LT(size(s.acceleration), acceleration);
      EXPECT_EQ(s.angular_velocity, at(0.0).angular_velocity);
      acceleration = size(s.acceleration);
    }
    double speed = size(at(kFadeAccelerationS).velocity);
    double turning = size(at(kFadeAccelerationS).angular_velocity);
    for (double t = kFadeAccelerationS + 0.01; t < kWholeS; t += 0.01) {
      EXPECT_LT(size(at(t).velocity), speed);
      EXPECT_LT(size(at(t).angular_velocity), turning);
      speed = size(at(t).velocity);
      turning = size(at(t).angular_velocity);
    }
    const State end = at(kWholeS);
    EXPECT_LT(size(end.velocity), 1e-5);
    for (const double later_s : {1.0, 1e3, 1e6}) {
      EXPECT_LT(distance(at(kWholeS + later_s), end), 1e-9);
      EXPECT_EQ(at(kWholeS + later_s).velocity, glm::vec3{0.0f});
      EXPECT_LT(angle_between(at(kWholeS + later_s).orientation, end.orientation), 1e-5);
    }
  }
}

TEST(Fade, StaysWithinItsDisplacementBound) {
  Motions motions(4);
  constexpr double kTa = kFadeAccelerationS, kTv = kFadeVelocityS;
  for (int i = 0; i < 1000; ++i) {
    const Motion motion = motions.any();
    const double until_s = motion.time_s + motions.number(0.0, 2.0);
    const State from = state_at(motion, until_s);
    const double bound = size(from.velocity) * (kTa + kTv / 2.0) +
                         size(from.acceleration) * (kTa * kTa / 3.0 + kTa * kTv / 4.0);
    for (const double t : {0.1, 0.3, 0.7, 1.0, 100.0})
      EXPECT_LE(distance(faded_state(motion, until_s, until_s + t), from), bound * (1.0 + 1e-9));
  }
}

TEST(Fade, StaysOnTheCurveOfARoute) {
  CatmullRomRoute curve;
  for (int i = 0; i < 12; ++i)
    curve.points.push_back({10.0 * std::cos(i * 0.5), 10.0 * std::sin(i * 0.5), 0.3 * i});
  const auto route = Route::make({.curve = curve});
  ASSERT_TRUE(route) << route.error();
  for (const double acceleration : {-6.0, 0.0, 3.0}) {
    Motion motion;
    motion.route = &*route;
    motion.along = {5.0, 8.0, acceleration};
    motion.state = state_along(motion, motion.along);
    double distance_m = motion.along.distance;
    for (double t = 0.0; t < 3.0; t += 0.01) {
      const State s = faded_state(motion, 0.5, t);
      EXPECT_LT(route->nearest(s.position).distance_to_point, 0.01);
      const RouteState along = faded_route_state(motion, 0.5, t);
      EXPECT_GE(along.distance, distance_m);  // never back
      EXPECT_LE(along.distance - distance_m, 0.01 * 11.0);
      EXPECT_NEAR(glm::length(glm::dvec3{s.velocity}), along.speed, 1e-3);
      distance_m = along.distance;
    }
    EXPECT_EQ(faded_route_state(motion, 0.5, 3.0).speed, 0.0);
  }
}

TEST(Fade, BrakingMotionComesToRestOnItsPath) {
  Motion motion;
  motion.never_reverses = true;
  motion.state.velocity = {10.0f, 0.0f, 0.0f};
  motion.state.acceleration = {-8.0f, 1.0f, 0.0f};
  for (const double until_s : {0.1, 0.9, 1.2, 1.4}) {
    double x = 0.0;
    for (double t = 0.0; t < 4.0; t += 0.01) {
      const State s = faded_state(motion, until_s, t);
      EXPECT_GE(s.position.x, x);
      x = s.position.x;
      const State braking = extrapolate_braking(motion.state, t);
      EXPECT_LE(x, braking.position.x + 1e-9);
    }
    EXPECT_LT(size(faded_state(motion, until_s, 4.0).velocity), 1e-5);
  }
}

// The shown pose never jumps when the connection becomes silent, when the motion is confirmed again, and when
// a new motion arrives.
TEST(Fade, EntityRecoversWithoutAJump) {
  constexpr double kFrameS = 1.0 / 2000.0;
  Motions motions(5);
  for (int run = 0; run < 40; ++run) {
    Motion motion = motions.any();
    motion.time_s = 0.0;
    RemoteEntity entity(motion);
    std::optional<State> before;
    double until_s = motions.number(0.1, 1.0);
    entity.set_valid_until(until_s, 0.0, 0.1);
    double next_s = until_s + motions.number(0.0, 2.0);
    int happening = 0;
    double rest_s = 0.0;
    for (double t = 0.0; t < 8.0; t += kFrameS) {
      const State s = entity.shown(t);
      if (before) {
        const glm::dvec3 mean = 0.5 * (glm::dvec3{s.velocity} + glm::dvec3{before->velocity});
        const glm::dvec3 moved = (s.position - before->position) / kFrameS;
        // A jump of a centimetre would be 20 m/s here.
        ASSERT_LT(glm::distance(moved, mean), 2.0) << "run " << run << " at " << t;
      }
      before = s;
      if (t >= next_s) {
        next_s = t + motions.number(0.05, 1.0);
        const double blend_s = motions.number(0.2, 0.5);
        if (++happening % 3 == 1) entity.set_valid_until(kAlwaysValid, t, blend_s);
        if (happening % 3 == 2) entity.set_valid_until(t + motions.number(-0.4, 0.4), t, blend_s);
        if (happening % 3 == 0) {
          Motion fresh = motion;
          fresh.time_s = t - 0.05;
          fresh.state.position = s.position + glm::dvec3{motions.vector(0.5)};
          fresh.state.velocity = motions.vector(10.0);
          entity.receive(fresh, t, blend_s, happening % 2 == 0 ? t + 0.2 : kAlwaysValid);
          const State now = entity.shown(t);
          ASSERT_LT(distance(now, s), 1e-9);
          ASSERT_LT(size(now.velocity - s.velocity), 1e-3);
        }
        const State now = entity.shown(t);
        ASSERT_LT(distance(now, s), 1e-9);
        ASSERT_LT(size(now.velocity - s.velocity), 1e-3);
        ASSERT_LT(angle_between(now.orientation, s.orientation), 1e-3);
        rest_s = t;
        before = now;
      }
    }
    EXPECT_GT(rest_s, 0.0);
  }
}

}  // namespace
}  // namespace reckoner
