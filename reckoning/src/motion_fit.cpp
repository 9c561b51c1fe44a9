// SPDX-License-Identifier: MIT
#include <reckoner/reckoning/motion_fit.hpp>

namespace reckoner {
namespace {

// About the age of an update in use on a typical link: delay, and half the gap until the next. Measured on
// the recorded traces the error is flat from 0.15 to 0.22 s.
constexpr double kHorizonS = 0.18;

}  // namespace

MotionFit::MotionFit(double tick_rate_hz)
    : tick_s_(1.0 / tick_rate_hz), linear_(tick_rate_hz, kHorizonS), angular_(tick_rate_hz, kHorizonS) {
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
}

void MotionFit::begin_with(const Habits& habits) {
  if (habits.linear) linear_.begin_with(*habits.linear);
  if (habits.angular) angular_.begin_with(*habits.angular);
}

void MotionFit::restart() {
  linear_.restart();
  angular_.restart();
}

void MotionFit::observe(const State& truth) {
  linear_.observe(truth.velocity, truth.acceleration, truth.position);
  turned_ += glm::dvec3{truth.angular_velocity} * tick_s_;
  angular_.observe(truth.angular_velocity, glm::vec3{0.0f}, turned_);
}

State MotionFit::fitted(const State& truth) const {
  State state = truth;
  state.acceleration = (linear_.mean_rate() - truth.velocity) * static_cast<float>(2.0 / horizon_s_);
  state.angular_velocity = angular_.mean_rate();
  return state;
}

}  // namespace reckoner
