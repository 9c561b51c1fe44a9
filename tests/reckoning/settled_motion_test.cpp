// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/settled_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr SettledMotion::Slack kSlack{0.0005, 0.0005};
constexpr double kTickS = 1.0 / 60.0;

State at(double t, glm::vec3 acceleration) {
  State s;
  s.position =
      glm::dvec3{1e5, 0.0, 0.0} + glm::dvec3{0.3, 0.1, 0.0} * t + 0.5 * t * t * glm::dvec3{acceleration};
  s.velocity = glm::vec3{0.3f, 0.1f, 0.0f} + static_cast<float>(t) * acceleration;
  s.acceleration = acceleration;
  return s;
}

// Observes `state(t)` from `from_s` to `until_s`, and returns the time at which the motion first was settled.
template <class F>
double settles(SettledMotion& motion, F&& state, double from_s, double until_s) {
  double first_s = std::numeric_limits<double>::infinity();
  for (double t = from_s; t < until_s; t += kTickS) {
    motion.observe(state(t), t, kSlack);
    if (motion.is_settled(t)) first_s = std::min(first_s, t);
  }
  return first_s;
}

TEST(SettledMotion, ConstantAccelerationSettlesAfterHalfASecond) {
  for (const glm::vec3 acceleration : {glm::vec3{0.0f}, glm::vec3{0.0f, 0.0f, -9.8f}}) {
    SettledMotion motion;
    EXPECT_FALSE(motion.is_settled(100.0));
    EXPECT_NEAR(settles(
                    motion, [&](double t) { return at(t, acceleration); }, 1.0, 5.0),
                1.0 + SettledMotion::kSettledS, kTickS);
    EXPECT_EQ(motion.began_s(), 1.0);
  }
}

TEST(SettledMotion, AChangeBeginsAnotherMotion) {
  SettledMotion motion;
  const auto stops = [](double t) { return t < 2.0 ? at(t, glm::vec3{0.0f}) : at(2.0, glm::vec3{0.0f}); };
  settles(motion, stops, 0.0, 1.99);
  EXPECT_TRUE(motion.is_settled(1.99));
  motion.observe(at(2.1, {0.0f, 1.0f, 0.0f}), 2.1, kSlack);
  EXPECT_FALSE(motion.is_settled(2.1));
  EXPECT_EQ(motion.began_s(), 2.1);
}

TEST(SettledMotion, ATurnThatIsNotEvenNeverSettles) {
  SettledMotion motion;
  const auto swings = [](double t) {
    State s = at(t, glm::vec3{0.0f});
    s.angular_velocity = {0.0f, 0.0f, static_cast<float>(std::sin(2.0 * t))};
    return s;
  };
  EXPECT_GT(settles(motion, swings, 0.0, 10.0), 10.0);
}

TEST(SettledMotion, VelocitiesThatDoNotFitThePositionsNeverSettle) {
  SettledMotion motion;
  const auto wrong = [](double t) {
    State s = at(t, glm::vec3{0.0f});
    s.velocity.x += 0.01f;
    return s;
  };
  EXPECT_GT(settles(motion, wrong, 0.0, 10.0), 10.0);
}

}  // namespace
}  // namespace reckoner
