// SPDX-License-Identifier: MIT
#include <algorithm>

#include <reckoner/reckoning/motion_fit.hpp>

namespace reckoner {
namespace {

// An update in use is so old on a typical link: the delay, and half a blend, and half the gap until the next.
constexpr double kDelayS = 0.13;
constexpr double kGapShare = 0.5;

// The longest that is learned from at every tick of 60 a second. Where gaps are short, or unknown, the error
// is flat from 0.15 to 0.2 s (docs/TUNING.md).
constexpr double kLeastS = 0.18;
constexpr double kMostS = 0.26;

}  // namespace

double MotionFit::horizon_for(double updates_per_second) {
  if (!(updates_per_second > 0.0)) return kLeastS;
  return std::clamp(kDelayS + kGapShare / updates_per_second, kLeastS, kMostS);
}

MotionFit::MotionFit(double tick_rate_hz, double horizon_s)
    : tick_s_(1.0 / tick_rate_hz), linear_(tick_rate_hz, horizon_s), angular_(tick_rate_hz, horizon_s) {
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
