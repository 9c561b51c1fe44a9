// SPDX-License-Identifier: MIT
#include "motion_fit.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

// About the age of an update in use on a typical link: delay, and half the gap until the next. Measured on
// the recorded traces the error is flat from 0.15 to 0.22 s.
constexpr double kHorizonS = 0.18;

}  // namespace

MotionFit::MotionFit(double tick_rate_hz)
    : linear_(tick_rate_hz, kHorizonS), angular_(tick_rate_hz, kHorizonS) {
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) / tick_rate_hz;
}

void MotionFit::restart() {
  filled_ = 0;
  linear_.restart();
  angular_.restart();
}

void MotionFit::observe(const State& truth) {
  past_[next_] = truth.pose();
  next_ = (next_ + 1) % kPast;
  filled_ = std::min(filled_ + 1, kPast);

  const std::size_t horizon = linear_.horizon_ticks();
  if (filled_ <= horizon + 1) {  // the first tick has no velocity yet
    linear_.observe(truth.velocity, truth.acceleration, nullptr);
    angular_.observe(truth.angular_velocity, glm::vec3{0.0f}, nullptr);
    return;
  }
  const Pose& then = past_[(next_ + kPast - 1 - horizon) % kPast];
  const glm::dvec3 moved = truth.position - then.position;
  const glm::dvec3 turned = rotation_log(
      glm::normalize(glm::dquat{truth.orientation} * glm::conjugate(glm::dquat{then.orientation})));
  linear_.observe(truth.velocity, truth.acceleration, &moved);
  angular_.observe(truth.angular_velocity, glm::vec3{0.0f}, &turned);
}

State MotionFit::fitted(const State& truth) const {
  State state = truth;
  state.acceleration = glm::vec3{2.0 * (linear_.mean_rate() - glm::dvec3{truth.velocity}) / horizon_s_};
  state.angular_velocity = glm::vec3{angular_.mean_rate()};
  return state;
}

}  // namespace reckoner
