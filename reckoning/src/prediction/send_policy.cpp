// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/send_policy.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// How fast the threshold adapts to a budget: in one second it falls by the factor exp(-kAdaptPerS). With a
// smaller value, the threshold lags behind changes of the motion. With a larger value, updates are sent
// evenly, and many are wasted on predictable motion. On the recorded traces, the p95 error (95th percentile)
// is lowest at 4.
constexpr double kAdaptPerS = 4.0;
constexpr double kMinScale = 0.02;
constexpr double kMinGapScale = 0.005;  // smaller, because interpolation is much more exact
constexpr double kMaxThresholdScale = 1000.0;

// Under a budget, position matters more than angle: the angular threshold is this many times larger.
constexpr double kBudgetAngleShare = 4.0;

// For clients in buffered mode this factor is smaller. On the recorded traces, all factors from 2 to 3 give
// the same p95 error of the position. The p95 error of the angle is lower with a smaller factor.
constexpr double kGapAngleShare = 2.0;

// The part of the error above the tolerated rounding is integrated over time. The integral may reach the
// threshold times this number of seconds. So an error just below the threshold may last 4/3 s, and an error
// of half the threshold may last 4 s.
constexpr double kMaxErrorIntegralS = 1.0;

// The fractional parts of its multiples are distributed evenly.
constexpr double kGolden = 0.6180339887498949;

// An entity counts as resting after kTicksToRest ticks without motion. Its resting pose is then published
// exactly: the error of the published pose may be at most kRestShare of the threshold. This limit is above
// the error of the finest rounding.
constexpr std::uint32_t kTicksToRest = 3;
constexpr double kRestShare = 1.0 / 64.0;
// An orientation is sent with at most 15 bits per component (docs/WIRE.md). The remaining error is up to
// 1.13e-4 rad, even if the threshold is smaller.
constexpr double kFinestTurnRad = 1.3e-4;
// Errors below this share of the threshold are tolerated as rounding. Moving entities have smaller rounding
// errors.
constexpr double kRoundingShare = 0.25;

// Distributes consecutive phases evenly over the range from 0 to 1. Under a budget the threshold rises and
// falls like a sawtooth. Entities that are published together would stay synchronised, so each entity's
// sawtooth starts at another point.
double spread(std::uint32_t phase) {
  return std::fmod(kGolden * phase, 1.0);
}

// The factor on an entity's limits until its first publish. Errors grow with the square of time, so entities
// with equal errors reach these limits at evenly distributed times. The factor is never 0, because all
// entities would exceed a limit of 0 at the same tick.
double first_share(std::uint32_t phase) {
  const double left = 1.0 - 0.75 * spread(phase);
  return left * left;
}

double distance(const State& a, const State& b) {
  return glm::length(a.position - b.position);
}
double angle(const State& a, const State& b) {
  return angle_between(a.orientation, b.orientation);
}

// The position of extrapolate(), except for rounding.
glm::dvec3 place(const State& s, double dt_s) {
  return s.position + (glm::dvec3{s.velocity} + glm::dvec3{s.acceleration} * (0.5 * dt_s)) * dt_s;
}

// The orientation of extrapolate(), with an error of up to 1e-6. For small rotations it is computed without a
// sine or a root.
glm::quat turned(const State& s, double dt_s) {
  constexpr double kSmall2 = 0.25;  // limit of the squared half angle
  const glm::dvec3 half = glm::dvec3{s.angular_velocity} * (0.5 * dt_s);
  const double x = glm::dot(half, half);
  if (!(x < kSmall2)) return extrapolate(s, dt_s).orientation;
  const double cosine = 1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0));
  const double sinc = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0));
  const glm::dquat turn{cosine, half.x * sinc, half.y * sinc, half.z * sinc};
  return glm::quat{turn * glm::dquat{s.orientation}};
}

}  // namespace

SendPolicy::SendPolicy(const SendPolicyConfig& config, std::uint32_t phase)
    : config_(config),
      phase_(phase),
      first_limit_share_(first_share(phase)),
      fall_factor_(portable::exp(-kAdaptPerS / config.tick_rate_hz)),
      rise_factor_(config.updates_per_second > 0.0 ? portable::exp(kAdaptPerS / config.updates_per_second)
                                                   : 1.0),
      scale_(portable::pow(rise_factor_, -spread(phase))),
      tokens_(std::max(0.0, config.updates_per_second - spread(phase))) {}

bool SendPolicy::due(const Comparison& c, std::uint32_t tick) {
  if (const auto due = early_decision(c.truth, c.gap ? kMinGapScale : kMinScale, tick)) return *due;
  if (!is_at_rest()) return start_error_integral_if(exceeds(c));
  return start_error_integral_if(moves(c.published) || rest_pose_differs(c.truth, c.published));
}

bool SendPolicy::due(const FreeMotionInputs& o, std::uint32_t tick) {
  if (const auto due = early_decision(o.truth, kMinScale, tick)) return *due;
  if (!is_at_rest()) return start_error_integral_if(exceeds(o));
  return start_error_integral_if(moves(o.published.state) || rest_pose_differs(o.truth, o.published.state));
}

bool SendPolicy::start_error_integral_if(bool due) {
  if (due) {
    error_integral_m_s_ = 0.0;
    first_limit_share_ = 1.0;
  }
  return due;
}

bool SendPolicy::is_at_rest() const {
  return ticks_at_rest_ >= kTicksToRest;
}

std::optional<bool> SendPolicy::early_decision(const State& truth, double least_scale, std::uint32_t tick) {
  ticks_at_rest_ = moves(truth) ? 0 : std::min(ticks_at_rest_ + 1, kTicksToRest);
  if (config_.fixed_rate_hz > 0.0) return due_at_fixed_rate(tick);
  if (config_.updates_per_second <= 0.0) return std::nullopt;
  tokens_ = std::min(config_.updates_per_second, tokens_ + config_.updates_per_second / config_.tick_rate_hz);
  // A resting entity does not change the threshold.
  if (!is_at_rest()) scale_ = std::max(least_scale, scale_ * fall_factor_);
  if (tokens_ < 1.0) return false;
  return std::nullopt;
}

void SendPolicy::update_sent() {
  if (config_.updates_per_second <= 0.0) return;
  tokens_ -= 1.0;
  scale_ = std::min(kMaxThresholdScale, scale_ * rise_factor_);
}

bool SendPolicy::due_at_fixed_rate(std::uint32_t tick) const {
  const double per_tick = std::min(1.0, config_.fixed_rate_hz / config_.tick_rate_hz);
  const double shift = spread(phase_);
  return std::floor(tick * per_tick + shift) != std::floor((tick - 1.0) * per_tick + shift);
}

bool SendPolicy::rest_pose_differs(const State& truth, const State& published) const {
  return distance(truth, published) > kRestShare * config_.threshold_m ||
         angle(truth, published) >
             std::max(kFinestTurnRad, kRestShare * lever_share_ * config_.threshold_rad);
}

double SendPolicy::limit_m() const {
  return first_limit_share_ * scale_ * config_.threshold_m;
}

void SendPolicy::set_lever(double lever_m) {
  const double wanted = lever_m > 0.0 ? config_.threshold_m / (lever_m * config_.threshold_rad) : 1.0;
  lever_share_ = std::clamp(wanted, kMinLeverShare, 1.0);
}

double SendPolicy::limit_rad() const {
  const double share = config_.updates_per_second > 0.0 ? kBudgetAngleShare : 1.0;
  return first_limit_share_ * share * scale_ * lever_share_ * config_.threshold_rad;
}

// Pure rounding error is not integrated, because no update can remove it.
bool SendPolicy::integral_exceeds(double off_m) {
  error_integral_m_s_ +=
      std::max(0.0, off_m - kRoundingShare * scale_ * config_.threshold_m) / config_.tick_rate_hz;
  return error_integral_m_s_ > kMaxErrorIntegralS * scale_ * config_.threshold_m;
}

bool SendPolicy::exceeds(const Comparison& c) {
  // The present and the future error add up: clients see both before an update takes effect.
  const double now_m = c.gap ? 0.0 : distance(c.truth, c.published);
  const double off_m = c.gap ? c.gap->m : now_m + distance(c.expected_ahead, c.published_ahead);
  if (integral_exceeds(now_m) || off_m > limit_m()) return true;
  const double off_rad =
      c.gap ? c.gap->rad : angle(c.truth, c.published) + angle(c.expected_ahead, c.published_ahead);
  const bool spares_turns = c.gap && config_.updates_per_second > 0.0;
  return off_rad > limit_rad() * (spares_turns ? kGapAngleShare / kBudgetAngleShare : 1.0);
}

bool SendPolicy::exceeds(const FreeMotionInputs& o) {
  const double age_s = o.time_s - o.published.time_s;
  const State& published = o.published.state;
  const double now_m = glm::length(o.truth.position - place(published, age_s));
  const double off_m = now_m + glm::length(place(o.fitted, o.ahead_s) - place(published, age_s + o.ahead_s));
  if (integral_exceeds(now_m) || off_m > limit_m()) return true;

  // If the true and the published orientation rotate at nearly the same rate, the angle between them hardly
  // changes. Then the later angle need not be computed.
  const double off_rad = angle_between(o.truth.orientation, turned(published, age_s));
  const glm::dvec3 apart = glm::dvec3{o.fitted.angular_velocity} - glm::dvec3{published.angular_velocity};
  if (2.0 * off_rad + o.ahead_s * glm::length(apart) <= limit_rad()) return false;
  return off_rad + angle_between(turned(o.fitted, o.ahead_s), turned(published, age_s + o.ahead_s)) >
         limit_rad();
}

}  // namespace reckoner
