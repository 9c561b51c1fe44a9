// SPDX-License-Identifier: MIT
#include "random_states.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

TEST(Frame, OutOfFrameAndIntoFrameAreInverse) {
  test::RandomStates random{1};
  for (int i = 0; i < 1000; ++i) {
    const State frame = random.state();
    State local = random.state();
    local.position *= 0.02;
    const State back = into_frame(frame, out_of_frame(frame, local));
    EXPECT_LT(glm::distance(back.position, local.position), 1e-5);  // orientations are floats
    EXPECT_LT(glm::distance(back.velocity, local.velocity), 1e-3f);
    EXPECT_LT(glm::distance(back.acceleration, local.acceleration), 1e-2f);
    EXPECT_LT(angle_between(back.orientation, local.orientation), 1e-5);
    EXPECT_LT(glm::distance(back.angular_velocity, local.angular_velocity), 1e-4f);
    const Pose pose = out_of_frame(frame.pose(), local.pose());
    EXPECT_EQ(pose.position, out_of_frame(frame, local).position);
    EXPECT_EQ(pose.orientation, out_of_frame(frame, local).orientation);
    EXPECT_LT(glm::distance(into_frame(frame.pose(), pose).position, local.position), 1e-5);
  }
}

// The velocities are the derivatives of the world pose while the frame moves and turns and the entity moves
// in it.
TEST(Frame, RatesAreDerivativesInTheWorld) {
  test::RandomStates random{2};
  constexpr double kStepS = 1e-3;
  for (int i = 0; i < 300; ++i) {
    const State frame = random.state();
    State local = random.state();
    local.position *= 0.02;
    const auto at = [&](double dt_s) {
      return out_of_frame(extrapolate(frame, dt_s), extrapolate(local, dt_s));
    };
    const State now = at(0.0);
    const State before = at(-kStepS), after = at(kStepS);
    const glm::dvec3 velocity = (after.position - before.position) / (2.0 * kStepS);
    const double size = 1.0 + glm::length(glm::dvec3{now.acceleration});
    EXPECT_LT(glm::distance(velocity, glm::dvec3{now.velocity}), 1e-2 * size);
    const glm::dvec3 acceleration =
        (glm::dvec3{after.velocity} - glm::dvec3{before.velocity}) / (2.0 * kStepS);
    EXPECT_LT(glm::distance(acceleration, glm::dvec3{now.acceleration}), 2e-2 * size);
    const glm::dquat turn =
        glm::normalize(glm::dquat{after.orientation} * glm::conjugate(glm::dquat{before.orientation}));
    EXPECT_LT(glm::distance(rotation_log(turn) / (2.0 * kStepS), glm::dvec3{now.angular_velocity}), 5e-3);
  }
}

TEST(Frame, NestedFramesCompose) {
  test::RandomStates random{3};
  for (int i = 0; i < 300; ++i) {
    const State ship = random.state();
    const State tank = random.state();
    const State turret = random.state();
    const State one_by_one = out_of_frame(ship, out_of_frame(tank, turret));
    const State together = out_of_frame(out_of_frame(ship, tank), turret);
    EXPECT_LT(glm::distance(one_by_one.position, together.position), 1e-3);
    EXPECT_LT(glm::distance(one_by_one.velocity, together.velocity), 0.05f);
    EXPECT_LT(angle_between(one_by_one.orientation, together.orientation), 1e-5);
    EXPECT_LT(glm::distance(one_by_one.angular_velocity, together.angular_velocity), 1e-4f);
  }
}

TEST(Frame, FrameAtRestAtTheOriginEqualsTheWorld) {
  test::RandomStates random{4};
  const State local = random.state();
  const State out = out_of_frame(State{}, local);
  EXPECT_EQ(out.position, local.position);
  EXPECT_EQ(out.velocity, local.velocity);
  EXPECT_EQ(out.acceleration, local.acceleration);
}

}  // namespace
}  // namespace reckoner
