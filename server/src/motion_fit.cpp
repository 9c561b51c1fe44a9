// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include "motion_fit.hpp"

namespace reckoner {
namespace {

// How far ahead a motion should be right: about the age of an update in use on a typical link.
constexpr double kHorizonS = 0.18;

// How long a past error counts, s: long enough to average over one turn, short enough to notice a take-off.
constexpr double kMemoryS = 1.0;

double squared(const glm::dvec3& v) { return glm::dot(v, v); }

}  // namespace

MotionFit::MotionFit(double tick_rate_hz)
    : horizon_ticks_(static_cast<std::size_t>(
          std::clamp(std::round(kHorizonS * tick_rate_hz), 1.0, static_cast<double>(kMostHorizonTicks - 1)))),
      horizon_s_(static_cast<double>(horizon_ticks_) / tick_rate_hz),
      forgetting_(std::exp(-1.0 / (kMemoryS * tick_rate_hz))) {}

void MotionFit::observe(const State& truth) {
  if (filled_ >= horizon_ticks_) {
    const State& then = past_[(next_ + kMostHorizonTicks - horizon_ticks_) % kMostHorizonTicks];
    const glm::dvec3 by_velocity = then.position + glm::dvec3{then.velocity} * horizon_s_;
    const glm::dvec3 by_acceleration = by_velocity + glm::dvec3{then.acceleration} * (0.5 * horizon_s_ * horizon_s_);
    constant_velocity_error_ =
        forgetting_ * constant_velocity_error_ + (1.0 - forgetting_) * squared(truth.position - by_velocity);
    constant_acceleration_error_ = forgetting_ * constant_acceleration_error_ +
                                   (1.0 - forgetting_) * squared(truth.position - by_acceleration);
  }
  past_[next_] = truth;
  next_ = (next_ + 1) % kMostHorizonTicks;
  filled_ = std::min(filled_ + 1, kMostHorizonTicks);
}

glm::vec3 MotionFit::acceleration(const State& truth) const {
  return constant_acceleration_error_ < constant_velocity_error_ ? truth.acceleration : glm::vec3{0.0f};
}

}  // namespace reckoner
