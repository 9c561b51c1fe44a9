// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/motion_fit.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

// The typical age of an update while a client uses it is the sum of three parts: the delay, part of a blend,
// and a little more than half of the gap until the next update (docs/TUNING.md).
constexpr double kTypicalDelayS = 0.1;
constexpr double kTypicalGapS = 0.1;
constexpr double kOfBlendS = 0.02;
constexpr double kGapShare = 0.6;

// Limits of the horizon. For horizons below the minimum, any model predicts well. The maximum is the longest
// horizon at which, with 60 ticks per second, every tick can still be learned from.
constexpr double kMinHorizonS = 0.12;
constexpr double kMaxHorizonS = 0.27;

// A smaller change of the horizon is ignored, because a change discards samples in flight.
constexpr double kSlackS = 0.025;

}  // namespace

double MotionFit::horizon_for(double updates_per_second, double delay_s) {
  const double known_s = delay_s > 0.0 ? delay_s : kTypicalDelayS;
  const double gap_s = updates_per_second > 0.0 ? 1.0 / updates_per_second : kTypicalGapS;
  return std::clamp(known_s + kOfBlendS + kGapShare * gap_s, kMinHorizonS, kMaxHorizonS);
}

void MotionFit::change_horizon(double horizon_s) {
  if (std::abs(horizon_s - horizon_s_) <= kSlackS) return;
  linear_.look_ahead(1.0 / tick_s_, horizon_s);
  angular_.look_ahead(1.0 / tick_s_, horizon_s);
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
}

MotionFit::MotionFit(double tick_rate_hz, double horizon_s)
    : tick_s_(1.0 / tick_rate_hz), linear_(tick_rate_hz, horizon_s), angular_(tick_rate_hz, horizon_s) {
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
}

void MotionFit::begin_with(const Priors& priors) {
  if (priors.linear) linear_.begin_with(*priors.linear);
  if (priors.angular) angular_.begin_with(*priors.angular);
}

void MotionFit::resume(const Memory& memory) {
  if (memory.linear) {
    linear_.resume(*memory.linear, 1.0 / tick_s_);
    horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
    angular_.look_ahead(1.0 / tick_s_, horizon_s_);
  }
  if (memory.angular) {
    angular_.resume(*memory.angular, 1.0 / tick_s_);
    angular_.look_ahead(1.0 / tick_s_, horizon_s_);
  }
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
