// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/send_policy.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Speed at which the threshold follows a budget: it sinks by this many factors of e a second. Slower, it lags
// behind changes of motion; faster, it sends evenly and wastes updates on predictable stretches. Measured on
// the recorded traces, p95 error is least at 4.
constexpr double kAdaptPerS = 4.0;
constexpr double kLeastScale = 0.02;
constexpr double kLeastGapScale = 0.005;  // interpolation is so much more exact
constexpr double kMostScale = 1000.0;

// Under a budget, updates are worth more for place than for turn: an angle may grow so
// many times further.
constexpr double kBudgetAngleShare = 4.0;

// Not as far where only the gaps between updates count. Measured on the recorded traces: from 2 to 3 the p95
// error of place stays what it is, and that of turn falls with the share.
constexpr double kGapAngleShare = 2.0;

// What is off, less what rest may be off, times how long it is may come to the threshold times this: just
// below the threshold it stands for 4/3 s, at half of it for 4 s.
constexpr double kStandsS = 1.0;

constexpr double kGolden = 0.6180339887498949;  // its multiples spread evenly

// A body counts as resting after so many ticks without any motion; its rest is then published exactly, that
// is, so that it is off by no more than this share of the threshold: more than the finest rounding comes to.
constexpr std::uint32_t kTicksToRest = 3;
constexpr double kRestShare = 1.0 / 64.0;
// An orientation travels with 15 bits a component at most (docs/WIRE.md), which leaves it off by up to
// 1.13e-4 rad, however small the threshold is.
constexpr double kFinestTurnRad = 1.3e-4;
constexpr double kRoundingShare = 0.25;  // of the threshold: above the rounding of what moves

// Spreads consecutive phases evenly over 0 to 1. Under a budget the threshold goes up and down like a saw,
// and what is published alike falls into step with it: so each entity's saw begins elsewhere.
double spread(std::uint32_t phase) {
  return std::fmod(kGolden * phase, 1.0);
}

// Entities that drift from their motion alike reach so much of the limit at instants that are evenly spread:
// what is off grows with the square of time. Not all the way down to nothing, which all would reach at once.
double first_share(std::uint32_t phase) {
  const double left = 1.0 - 0.75 * spread(phase);
  return left * left;
}

bool moves(const State& s) {
  return s.velocity != glm::vec3{0.0f} || s.acceleration != glm::vec3{0.0f} ||
         s.angular_velocity != glm::vec3{0.0f};
}

double distance(const State& a, const State& b) {
  return glm::length(a.position - b.position);
}
double angle(const State& a, const State& b) {
  return angle_between(a.orientation, b.orientation);
}

// Where extrapolate() has it, but for rounding.
glm::dvec3 place(const State& s, double dt_s) {
  return s.position + (glm::dvec3{s.velocity} + glm::dvec3{s.acceleration} * (0.5 * dt_s)) * dt_s;
}

// The orientation that extrapolate() has, to 1e-6; for small turns without a sine or a root.
glm::quat turned(const State& s, double dt_s) {
  constexpr double kSmall2 = 0.25;  // of the half angle, squared
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
      share_(first_share(phase)),
      sink_(std::exp(-kAdaptPerS / config.tick_rate_hz)),
      rise_(config.updates_per_second > 0.0 ? std::exp(kAdaptPerS / config.updates_per_second) : 1.0),
      scale_(std::pow(rise_, -spread(phase))),
      tokens_(std::max(0.0, config.updates_per_second - spread(phase))) {}

bool SendPolicy::due(const Comparison& c, std::uint32_t tick) {
  if (const auto due = due_by_itself(c.truth, c.gap ? kLeastGapScale : kLeastScale, tick)) return *due;
  if (!rests()) return decided(exceeds(c));
  return decided(moves(c.published) || rest_is_off(c.truth, c.published));
}

bool SendPolicy::due(const Outlook& o, std::uint32_t tick) {
  if (const auto due = due_by_itself(o.truth, kLeastScale, tick)) return *due;
  if (!rests()) return decided(exceeds(o));
  return decided(moves(o.published.state) || rest_is_off(o.truth, o.published.state));
}

bool SendPolicy::decided(bool due) {
  if (due) {
    off_m_s_ = 0.0;
    share_ = 1.0;
  }
  return due;
}

bool SendPolicy::rests() const {
  return ticks_at_rest_ >= kTicksToRest;
}

std::optional<bool> SendPolicy::due_by_itself(const State& truth, double least_scale, std::uint32_t tick) {
  ticks_at_rest_ = moves(truth) ? 0 : std::min(ticks_at_rest_ + 1, kTicksToRest);
  if (config_.fixed_rate_hz > 0.0) return due_at_fixed_rate(tick);
  if (config_.updates_per_second <= 0.0) return std::nullopt;
  tokens_ = std::min(config_.updates_per_second, tokens_ + config_.updates_per_second / config_.tick_rate_hz);
  // Nothing is learned about the threshold from a body that rests.
  if (!rests()) scale_ = std::max(least_scale, scale_ * sink_);
  if (tokens_ < 1.0) return false;
  return std::nullopt;
}

void SendPolicy::spent() {
  if (config_.updates_per_second <= 0.0) return;
  tokens_ -= 1.0;
  scale_ = std::min(kMostScale, scale_ * rise_);
}

bool SendPolicy::due_at_fixed_rate(std::uint32_t tick) const {
  const double per_tick = std::min(1.0, config_.fixed_rate_hz / config_.tick_rate_hz);
  const double shift = spread(phase_);
  return std::floor(tick * per_tick + shift) != std::floor((tick - 1.0) * per_tick + shift);
}

bool SendPolicy::rest_is_off(const State& truth, const State& published) const {
  return distance(truth, published) > kRestShare * config_.threshold_m ||
         angle(truth, published) >
             std::max(kFinestTurnRad, kRestShare * lever_share_ * config_.threshold_rad);
}

double SendPolicy::limit_m() const {
  return share_ * scale_ * config_.threshold_m;
}

void SendPolicy::set_lever(double lever_m) {
  const double wanted = lever_m > 0.0 ? config_.threshold_m / (lever_m * config_.threshold_rad) : 1.0;
  lever_share_ = std::clamp(wanted, kLeastLeverShare, 1.0);
}

double SendPolicy::limit_rad() const {
  const double share = config_.updates_per_second > 0.0 ? kBudgetAngleShare : 1.0;
  return share_ * share * scale_ * lever_share_ * config_.threshold_rad;
}

// Rounding alone, which no update mends, adds up to nothing.
bool SendPolicy::adds_up(double off_m) {
  off_m_s_ += std::max(0.0, off_m - kRoundingShare * scale_ * config_.threshold_m) / config_.tick_rate_hz;
  return off_m_s_ > kStandsS * scale_ * config_.threshold_m;
}

bool SendPolicy::exceeds(const Comparison& c) {
  // What is off now and what will be off add up: both are seen before an update takes effect.
  const double now_m = c.gap ? 0.0 : distance(c.truth, c.published);
  const double off_m = c.gap ? c.gap->m : now_m + distance(c.expected_ahead, c.published_ahead);
  if (adds_up(now_m) || off_m > limit_m()) return true;
  const double off_rad =
      c.gap ? c.gap->rad : angle(c.truth, c.published) + angle(c.expected_ahead, c.published_ahead);
  const bool spares_turns = c.gap && config_.updates_per_second > 0.0;
  return off_rad > limit_rad() * (spares_turns ? kGapAngleShare / kBudgetAngleShare : 1.0);
}

bool SendPolicy::exceeds(const Outlook& o) {
  const double age_s = o.time_s - o.published.time_s;
  const State& published = o.published.state;
  const double now_m = glm::length(o.truth.position - place(published, age_s));
  const double off_m = now_m + glm::length(place(o.fitted, o.ahead_s) - place(published, age_s + o.ahead_s));
  if (adds_up(now_m) || off_m > limit_m()) return true;

  // What turns the same way stays as far off as it is, so the later angle often need not be known.
  const double off_rad = angle_between(o.truth.orientation, turned(published, age_s));
  const glm::dvec3 apart = glm::dvec3{o.fitted.angular_velocity} - glm::dvec3{published.angular_velocity};
  if (2.0 * off_rad + o.ahead_s * glm::length(apart) <= limit_rad()) return false;
  return off_rad + angle_between(turned(o.fitted, o.ahead_s), turned(published, age_s + o.ahead_s)) >
         limit_rad();
}

}  // namespace reckoner
