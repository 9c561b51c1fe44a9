// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/scaled_clock.hpp>

namespace reckoner {
namespace {

constexpr double kUnending = std::numeric_limits<double>::infinity();
const double kImpossible[] = {std::nan(""), kUnending, -kUnending, 1e300, -1e300, 1e18, -1e18};

Motion moving_from(double x, double time_s) {
  Motion motion;
  motion.state.position = {x, 0.0, 0.0};
  motion.state.velocity = {1.0f, 0.0f, 0.0f};
  motion.time_s = time_s;
  return motion;
}

TEST(ImpossibleTime, ChangesNoRemoteEntity) {
  for (const double wrong : kImpossible) {
    RemoteEntity entity(moving_from(0.0, 0.0));
    const State elsewhere = moving_from(50.0, 0.0).state;
    EXPECT_FALSE(entity.receive(moving_from(50.0, wrong), 1.0, 0.1)) << wrong;
    EXPECT_FALSE(entity.receive(moving_from(50.0, 0.5), wrong, 0.1)) << wrong;
    EXPECT_FALSE(entity.receive(moving_from(50.0, 0.5), 1.0, wrong)) << wrong;
    entity.correct(elsewhere, wrong, 0.1);
    entity.correct(elsewhere, 1.0, wrong);
    entity.jump(wrong, 1.0, 1.0, 0.1);
    entity.jump(1.0, wrong, 1.0, 0.1);
    entity.set_valid_until(0.5, wrong, 0.1);
    entity.set_path(MotionPath::interpolate, wrong, 0.1);
    EXPECT_DOUBLE_EQ(entity.shown(wrong).position.x, 0.0) << wrong;
    for (const double time_s : {1.0, 2.0, 20.0})
      EXPECT_DOUBLE_EQ(entity.shown(time_s).position.x, time_s) << wrong;
    EXPECT_TRUE(entity.receive(moving_from(3.0, 2.0), 2.5, 0.1)) << wrong;
    EXPECT_DOUBLE_EQ(entity.shown(4.0).position.x, 5.0) << wrong;
  }
}

TEST(ImpossibleTime, ChangesNoScaledClock) {
  for (const double wrong : kImpossible) {
    ScaledClock clock;
    EXPECT_FALSE(clock.set_scale(0.5, wrong)) << wrong;
    EXPECT_FALSE(clock.set_scale(0.5, 1.0, wrong)) << wrong;
    EXPECT_DOUBLE_EQ(clock.at(10.0), 10.0) << wrong;
    EXPECT_EQ(clock.scale_at(10.0), 1.0) << wrong;
  }
}

}  // namespace
}  // namespace reckoner
