// SPDX-License-Identifier: MIT
#include "harness/prediction/football_bot.hpp"

#include "reckoning/src/motion/portable_math.hpp"

#include <cmath>
#include <numbers>

#include <glm/geometric.hpp>

namespace reckoner::harness::football {

Keys Bot::keys(const World& seen, double time_s) {
  if (time_s >= plan_until_s_) {
    const double drawn = random_.uniform();
    plan_ = drawn < 0.7 ? Plan::ball : drawn < 0.85 ? Plan::ram : Plan::away;
    opponent_ = 2 * random_.below(kCars / 2) + (car_ % 2 == 0 ? 1 : 0);
    away_ = {random_.uniform(-35.0, 35.0), random_.uniform(-22.0, 22.0), 0.0};
    plan_until_s_ = time_s + random_.uniform(1.5, 4.0);
  }
  if (time_s >= keys_until_s_) {
    decide(seen);
    keys_until_s_ = time_s + random_.uniform(0.12, 0.35);
  }
  return keys_;
}

glm::dvec3 Bot::target(const World& seen) const {
  const Body& own = seen.bodies[car_];
  if (plan_ == Plan::away) return away_;
  const Body& aim = seen.bodies[plan_ == Plan::ram ? opponent_ : kBall];
  const double lead_s = std::fmin(1.0, glm::distance(own.position, aim.position) / 25.0);
  glm::dvec3 at = aim.position + lead_s * aim.velocity;
  if (plan_ == Plan::ball) {
    // A little behind the ball, as seen from the goal.
    const glm::dvec3 goal{car_ % 2 == 0 ? kHalfLengthM : -kHalfLengthM, 0.0, 0.0};
    at -= 1.5 * glm::normalize(goal - at + glm::dvec3{1e-6, 0.0, 0.0});
  }
  return at;
}

void Bot::decide(const World& seen) {
  const Body& own = seen.bodies[car_];
  const glm::dvec3 to = target(seen) - own.position;
  double angle = portable::atan2(to.y, to.x) - own.heading;
  if (angle > std::numbers::pi) angle -= 2.0 * std::numbers::pi;
  if (angle < -std::numbers::pi) angle += 2.0 * std::numbers::pi;
  const double away_m = portable::hypot(to.x, to.y);
  keys_ = {};
  keys_.steer = static_cast<std::int8_t>(std::abs(angle) < 0.08 ? 0 : angle > 0.0 ? 127 : -127);
  keys_.throttle = 127;
  if (std::abs(angle) > 2.2 && away_m < 10.0) {
    keys_.throttle = -127;
    keys_.steer = static_cast<std::int8_t>(-keys_.steer);
  }
  if (std::abs(angle) > 1.0) keys_.buttons |= Keys::drift;
  if (std::abs(angle) < 0.3 && away_m > 12.0 && random_.chance(0.6)) keys_.buttons |= Keys::boost;
  if (away_m < 8.0 && seen.bodies[kBall].position.z > 1.8 && random_.chance(0.4)) keys_.buttons |= Keys::jump;
}

}  // namespace reckoner::harness::football
