// SPDX-License-Identifier: MIT
#include "client/src/playout/playout_clock.hpp"

#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace reckoner {
namespace {

constexpr double kInitialDelayS = 0.2;      // adaptive mode, before the first measurement
constexpr double kLatenessQuantile = 0.95;  // later updates are mostly repairs, which come too late anyway
constexpr double kGapQuantile = 0.95;

// How fast the delay may change, s/s; while it grows, shown time runs slower by this. Growing is urgent,
// because late updates cannot be shown; shrinking is not.
constexpr double kGrowth = 0.1;
constexpr double kShrink = 0.02;

// Limits while changing to another configuration, which the player waits for.
constexpr double kFastestChange = 0.25;
// Deceleration towards the end, s/s^2: half of kDriftChange.
constexpr double kBrake = 0.25;
constexpr double kArrivedS = 2e-5;  // a remaining difference below this is invisible, s

// The rate of change itself changes gradually, so that no shown velocity steps. It reaches the fastest growth
// in 0.2 s, and is proportional to the remaining difference near the end.
constexpr double kDriftChange = 0.5;  // s/s^2
constexpr double kDelaySettleS = 0.3;

constexpr double kLongestDelayS = 2.0;  // less than RemoteEntity's history and the slots' quarantine

}  // namespace

PlayoutClock::PlayoutClock(const PlayoutConfig& config) : longest_gap_s_(quiet_gap_after(0.0)) {
  change(config);
  settled_ = true;
}

void PlayoutClock::change(const PlayoutConfig& config) {
  config_ = config;
  config_.delay_s = std::clamp(config_.delay_s, 0.0, kLongestDelayS);
  config_.max_delay_s = std::clamp(config_.max_delay_s, 0.0, kLongestDelayS);
  measure();
  settled_ = !started_;
}

void PlayoutClock::Recent::add(double value) {
  values_[next_] = value;
  next_ = (next_ + 1) % kCapacity;
  count_ = std::min(count_ + 1, kCapacity);
}

double PlayoutClock::Recent::quantile(double q) const {
  std::array<double, kCapacity> values = values_;
  // This is the lower neighbour of the interpolated quantile, not the nearest rank. The quantile constants
  // above were tuned with it.
  const auto index = static_cast<std::size_t>(std::floor(q * static_cast<double>(count_ - 1)));
  return nth_value(std::span(values).first(count_), index);
}

void PlayoutClock::expect_gaps(double longest_s) {
  longest_gap_s_ = quiet_gap_after(longest_s);
}

void PlayoutClock::note_update(double lateness_s, double gap_s) {
  // Measure in other modes, too: the mode may become adaptive.
  lateness_.add(std::clamp(lateness_s, 0.0, kLongestDelayS));
  if (gap_s <= longest_gap_s_) gaps_.add(gap_s);
  measure();
}

void PlayoutClock::measure() {
  if (config_.mode != PlayoutMode::adaptive || lateness_.empty()) return;
  const double gap_to_bridge_s = gaps_.empty() ? 0.0 : gaps_.quantile(kGapQuantile);
  wanted_s_ = std::min(config_.max_delay_s, lateness_.quantile(kLatenessQuantile) + gap_to_bridge_s);
}

double PlayoutClock::wanted_delay_s() const {
  switch (config_.mode) {
    case PlayoutMode::present:
      return 0.0;
    case PlayoutMode::delayed:
      return config_.delay_s;
    case PlayoutMode::adaptive:
      return lateness_.empty() ? kInitialDelayS : wanted_s_;
  }
  return 0.0;
}

bool PlayoutClock::advance(double now_s, bool stepped) {
  const bool first = !started_;
  if (first) now_s_ = now_s;
  started_ = true;
  const double elapsed_s = stepped ? 0.0 : std::max(0.0, now_s - now_s_);
  if (!stepped && now_s < now_s_) return false;
  now_s_ = now_s;
  if (first || stepped) {
    rate_ = 1.0;
    drift_ = 0.0;
    delay_s_ = wanted_delay_s();
    settled_ = true;
    shown_s_ = now_s - delay_s_;
    return true;
  }
  if (elapsed_s <= 0.0) return false;
  if (settled_) {
    const double wanted_drift = std::clamp((wanted_delay_s() - delay_s_) / kDelaySettleS, -kShrink, kGrowth);
    drift_ += std::clamp(wanted_drift - drift_, -kDriftChange * elapsed_s, kDriftChange * elapsed_s);
    delay_s_ = std::max(0.0, delay_s_ + drift_ * elapsed_s);
  } else {
    // Short steps: with a low frame rate, a single step would oscillate about the target.
    constexpr double kLongestStepS = 0.05;
    for (double left_s = elapsed_s; left_s > 0.0 && !settled_; left_s -= kLongestStepS)
      approach_target(std::min(left_s, kLongestStepS));
  }
  rate_ = 1.0 - drift_;
  shown_s_ = now_s - delay_s_;
  return false;
}

// Changes the delay as fast as allowed, but slow enough to brake before the target.
void PlayoutClock::approach_target(double elapsed_s) {
  const double left_s = wanted_delay_s() - delay_s_;
  const double fastest = std::min(kFastestChange, std::sqrt(2.0 * kBrake * std::abs(left_s)));
  const double change = std::clamp(std::copysign(fastest, left_s) - drift_, -kDriftChange * elapsed_s,
                                   kDriftChange * elapsed_s);
  drift_ += change;
  const double step_s = drift_ * elapsed_s;
  settled_ = std::abs(left_s) <= std::max(kArrivedS, std::abs(step_s)) && std::abs(drift_) <= kShrink;
  if (!settled_) {
    delay_s_ = std::max(0.0, delay_s_ + step_s);
  } else {
    delay_s_ = wanted_delay_s();
    drift_ = 0.0;
  }
}

}  // namespace reckoner
