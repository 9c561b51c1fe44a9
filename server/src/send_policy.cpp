// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/rotation.hpp>

#include "send_policy.hpp"

namespace reckoner {
namespace {

// Speed at which the threshold follows the budget: it sinks by a factor e a second without updates.
constexpr double kAdaptPerS = 1.0;
constexpr double kLeastScale = 0.02;
constexpr double kMostScale = 1000.0;

// A body counts as resting after so many ticks without any motion; its rest is then published exactly.
constexpr std::uint32_t kTicksToRest = 3;

bool moves(const State& s) {
  return s.velocity != glm::vec3{0.0f} || s.acceleration != glm::vec3{0.0f} ||
         s.angular_velocity != glm::vec3{0.0f};
}

}  // namespace

SendPolicy::SendPolicy(const SendPolicyConfig& config, std::uint32_t phase)
    : config_(config), phase_(phase), tokens_(config.updates_per_second) {}

bool SendPolicy::due(const State& truth, const State& published, Tick tick, double delay_s) {
  ticks_at_rest_ = moves(truth) ? 0 : ticks_at_rest_ + 1;

  if (config_.fixed_rate_hz > 0.0) {
    const double per_tick = std::min(1.0, config_.fixed_rate_hz / config_.tick_rate_hz);
    constexpr double kGolden = 0.6180339887498949;  // spreads consecutive phases evenly
    const double shift = std::fmod(kGolden * phase_, 1.0);
    return std::floor(tick * per_tick + shift) != std::floor((tick - 1.0) * per_tick + shift);
  }

  const bool budgeted = config_.updates_per_second > 0.0;
  if (budgeted) {
    tokens_ = std::min(config_.updates_per_second, tokens_ + config_.updates_per_second / config_.tick_rate_hz);
    // Nothing is learned about the threshold from a body that rests.
    if (ticks_at_rest_ < kTicksToRest) {
      scale_ = std::max(kLeastScale, scale_ * std::exp(-kAdaptPerS / config_.tick_rate_hz));
    }
    if (tokens_ < 1.0) return false;
  }
  if (ticks_at_rest_ >= kTicksToRest && (moves(published) || off_by(truth, published, 0.0, 0.25))) return true;
  return off_by(truth, published, delay_s, budgeted ? scale_ : 1.0);
}

void SendPolicy::spent() {
  if (config_.updates_per_second <= 0.0) return;
  tokens_ -= 1.0;
  scale_ = std::min(kMostScale, scale_ * std::exp(kAdaptPerS / config_.updates_per_second));
}

bool SendPolicy::off_by(const State& truth, const State& published, double delay_s, double scale) const {
  const glm::dvec3 error = truth.position - published.position;
  const glm::dvec3 growth = glm::dvec3{truth.velocity} - glm::dvec3{published.velocity};
  const double limit_m = scale * config_.threshold_m;
  if (glm::length(error) > limit_m || glm::length(error + growth * delay_s) > limit_m) return true;

  const double turn = angle_between(published.orientation, truth.orientation);
  const double turning = glm::length(glm::dvec3{truth.angular_velocity} - glm::dvec3{published.angular_velocity});
  const double limit_rad = scale * config_.threshold_rad;
  // The directions of error and growth are not compared: what matters is that neither stands alone too large.
  return turn > limit_rad || (turn > 0.5 * limit_rad && turn + turning * delay_s > limit_rad);
}

}  // namespace reckoner
