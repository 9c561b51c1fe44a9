// SPDX-License-Identifier: MIT
#include "client/src/playout/playout_clock.hpp"

#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace reckoner {
namespace {

// Adaptive mode, before the first measurement: the delay if no gap is expected, and otherwise the lateness
// that is added to the longest expected gap.
constexpr double kInitialDelayS = 0.2;
constexpr double kInitialLatenessS = 0.05;

constexpr double kLatenessQuantile = 0.95;  // later updates are mostly repairs, which come too late anyway
constexpr double kGapQuantile = 0.95;
// If pictures and ticks have the same rate, both quantiles are whole ticks. Then each picture would show the
// very instant of a tick, and rounding would decide whether it shows a change at this tick.
constexpr double kMarginS = 0.0005;

// A hitch of the connection or of the server makes several updates late at once. In a world in which little
// changes, they would count for minutes.
constexpr double kMemoryS = 10.0;
constexpr double kSampleEveryS = 0.1;
// With fewer gaps than this in that time, the longest gap that the server expects is a better guess.
constexpr std::size_t kEnoughGaps = 8;

// If updates are lost more often than this, the delay bridges the gaps that one lost update leaves.
constexpr double kLossToBridge = 0.05;
constexpr double kLossGain = 1.0 / 64.0;
// With fewer updates than this in that time, their quantile says little.
constexpr std::size_t kEnoughUpdates = 16;

// How fast the delay may change, s/s; while it grows, shown time runs slower by this. Growing is urgent,
// because late updates cannot be shown; shrinking is not.
constexpr double kGrowth = 0.1;
constexpr double kShrink = 0.02;

// If the longest expected gap is at most this, the sender's threshold is so low that a motion may be
// extrapolated after that gap, and nobody sees it. Then the delay need not bridge longer gaps.
constexpr double kOftenS = 0.0505;

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

// This is the lower neighbour of the interpolated quantile, not the nearest rank. The quantile constants
// above were tuned with it. Reorders the values.
double lower_quantile(std::span<double> values, double q) {
  const auto index = static_cast<std::size_t>(std::floor(q * static_cast<double>(values.size() - 1)));
  return nth_value(values, index);
}

}  // namespace

PlayoutClock::PlayoutClock(const PlayoutConfig& config) : quiet_gap_s_(quiet_gap_after(0.0)) {
  change(config);
  path_ = wanted_path();
  settled_ = true;
}

void PlayoutClock::change(const PlayoutConfig& config) {
  config_ = config;
  config_.delay_s = std::clamp(config_.delay_s, 0.0, kLongestDelayS);
  config_.max_delay_s = std::clamp(config_.max_delay_s, 0.0, kLongestDelayS);
  is_measured_ = false;
  settled_ = !started_;
}

bool PlayoutClock::review_path() {
  if (path_ == wanted_path()) return false;
  if (wanted_path() == MotionPath::predict && !settled_ && shown_s_ < now_s_) return false;
  path_ = wanted_path();
  return true;
}

void PlayoutClock::Recent::add(double value, double now_s) {
  values_[next_] = value;
  times_s_[next_] = now_s;
  next_ = (next_ + 1) % kCapacity;
  count_ = std::min(count_ + 1, kCapacity);
}

std::size_t PlayoutClock::Recent::copy_since(double since_s, std::span<double> to, double& oldest_s) const {
  std::size_t copied = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (times_s_[i] < since_s) continue;
    to[copied++] = values_[i];
    oldest_s = std::min(oldest_s, times_s_[i]);
  }
  return copied;
}

void PlayoutClock::Recent::clock_stepped(double by_s) {
  for (double& time_s : times_s_)
    time_s += by_s;
}

void PlayoutClock::expect_gaps(double longest_s, double tick_s) {
  expected_gap_s_ = longest_s;
  quiet_gap_s_ = longest_s <= kOftenS ? longest_s + 0.5 * tick_s : quiet_gap_after(longest_s);
  tick_s_ = tick_s;
  is_measured_ = false;
}

void PlayoutClock::note_lateness(Recent& recent, double lateness_s) {
  if (started_ && now_s_ - recent.newest_s() < kSampleEveryS) return;
  recent.add(std::clamp(lateness_s, 0.0, kLongestDelayS), now_s_);
}

void PlayoutClock::note_datagram(double lateness_s) {
  note_lateness(datagram_lateness_, lateness_s);
  is_measured_ = false;
}

void PlayoutClock::note_update(double lateness_s, double gap_s, bool was_valid) {
  // Measure in other modes, too: the mode may become adaptive.
  note_lateness(lateness_, lateness_s);
  if (!is_quiet(gap_s)) {
    gaps_.add(gap_s, now_s_);
  } else if (!was_valid && lost_share_ > kLossToBridge) {
    gaps_.add(std::min(gap_s, 2.0 * expected_gap_s_.value_or(0.0)),
              now_s_);  // after one lost update, not more
  }
  lost_share_ += kLossGain * ((was_valid ? 0.0 : 1.0) - lost_share_);
  is_measured_ = false;
}

// Without newer measurements, the lateness stays as it was: after a silence it is expected to be as before.
void PlayoutClock::measure() {
  is_measured_ = true;
  std::array<double, 2 * Recent::kCapacity> values;
  double oldest_s = std::numeric_limits<double>::infinity();
  const double since_s = now_s_ - kMemoryS;
  const std::size_t gaps = gaps_.copy_since(since_s, values, oldest_s);
  if (gaps >= kEnoughGaps || !expected_gap_s_) {
    if (gaps > 0) gap_to_bridge_s_ = lower_quantile(std::span(values).first(gaps), kGapQuantile);
  } else {
    gap_to_bridge_s_ = *expected_gap_s_;
  }
  std::size_t count = lateness_.copy_since(since_s, values, oldest_s);
  if (count < kEnoughUpdates) {
    const std::size_t datagrams =
        datagram_lateness_.copy_since(since_s, std::span(values).subspan(count), oldest_s);
    if (datagrams > 0)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(count), datagrams, values.begin());
    if (datagrams > 0) count = datagrams;
  }
  expires_s_ = oldest_s + kMemoryS;
  if (count > 0) late_s_ = lower_quantile(std::span(values).first(count), kLatenessQuantile);
}

double PlayoutClock::wanted_delay_s() const {
  switch (config_.mode) {
    case PlayoutMode::present:
    case PlayoutMode::ahead:
      return 0.0;
    case PlayoutMode::delayed:
      return config_.delay_s;
    case PlayoutMode::adaptive: {
      // If ticks are as long as the limit, interpolation is possible only with a longer delay.
      const double most_s = std::min(kLongestDelayS, config_.max_delay_s + tick_s_);
      const double wanted_s = lateness_.empty()
                                  ? (expected_gap_s_ ? *expected_gap_s_ + kInitialLatenessS : kInitialDelayS)
                                  : late_s_ + std::max(tick_s_, gap_to_bridge_s_) + kMarginS;
      return std::min(most_s, wanted_s);
    }
  }
  return 0.0;
}

bool PlayoutClock::advance(double now_s, bool stepped, const std::optional<InputTime>& inputs) {
  const bool first = !started_;
  started_ = true;
  if (!first && !stepped && now_s < now_s_) return false;
  const bool follows = config_.mode == PlayoutMode::ahead && inputs.has_value();
  const double base_s = follows ? inputs->time_s : now_s;
  const bool continues = follows == follows_ && !(follows && inputs->jumped);
  // A step of the server's time does not concern a clock of the inputs that goes on.
  const bool jumps = first || (stepped && !(follows && continues));
  const double elapsed_s = jumps ? 0.0 : std::max(0.0, stepped ? base_s - base_s_ : now_s - now_s_);
  if (first || stepped) {
    // Before the first call, now_s_ is 0, and measurements were noted with this time.
    for (Recent* recent : {&lateness_, &datagram_lateness_, &gaps_})
      recent->clock_stepped(now_s - now_s_);
    is_measured_ = false;
  }
  now_s_ = now_s;
  if (config_.mode == PlayoutMode::adaptive && (!is_measured_ || now_s_ > expires_s_)) measure();
  follows_ = follows;
  base_s_ = base_s;
  const double base_rate = follows ? inputs->rate : 1.0;
  if (jumps) {
    rate_ = 1.0;
    drift_ = 0.0;
    delay_s_ = wanted_delay_s();
    settled_ = true;
    shown_s_ = base_s - delay_s_;
    return true;
  }
  if (!continues) {  // what is shown goes on as before, and approaches the new base from now on
    shown_s_ += elapsed_s * rate_;
    delay_s_ = base_s - shown_s_;
    drift_ = base_rate - rate_;
    settled_ = false;
    return false;
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
  rate_ = base_rate - drift_;
  shown_s_ = base_s - delay_s_;
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
    delay_s_ = delay_s_ < 0.0 ? delay_s_ + step_s : std::max(0.0, delay_s_ + step_s);
  } else {
    delay_s_ = wanted_delay_s();
    drift_ = 0.0;
  }
}

}  // namespace reckoner
