// SPDX-License-Identifier: MIT
#include "playout_clock.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

constexpr double kInitialDelayS = 0.2;  // adaptive mode, before anything was measured
constexpr double kLatenessQuantile = 0.95;
constexpr double kGapQuantile = 0.5;  // longer gaps are quiet ones: the motion before them still holds
constexpr double kLongestGapS = 0.3;

// How fast the delay may change, seconds a second: while it grows everything runs that much slower. Growing
// is urgent (what is late is not there), shrinking is not.
constexpr double kGrowth = 0.1;
constexpr double kShrink = 0.02;

constexpr double kFadeS = 0.5;  // time constant with which a silent connection brings motion to rest
constexpr double kJumpS = 0.25;

}  // namespace

void PlayoutClock::Recent::add(double value) {
  values_[next_] = value;
  next_ = (next_ + 1) % kCapacity;
  count_ = std::min(count_ + 1, kCapacity);
}

double PlayoutClock::Recent::quantile(double q) const {
  std::array<double, kCapacity> sorted = values_;
  const auto rank = static_cast<std::ptrdiff_t>(std::floor(q * static_cast<double>(count_ - 1)));
  std::nth_element(sorted.begin(), sorted.begin() + rank,
                   sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  return sorted[static_cast<std::size_t>(rank)];
}

void PlayoutClock::note_update(double lateness_s, double gap_s) {
  if (config_.mode != PlayoutMode::adaptive) return;
  lateness_.add(std::clamp(lateness_s, 0.0, config_.max_delay_s));
  gaps_.add(std::clamp(gap_s, 0.0, kLongestGapS));
  wanted_s_ =
      std::min(config_.max_delay_s, lateness_.quantile(kLatenessQuantile) + gaps_.quantile(kGapQuantile));
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

bool PlayoutClock::advance(double now_s) {
  const double elapsed_s = now_s - now_s_;
  const bool jumped = !started_ || std::abs(elapsed_s) > kJumpS;
  if (!started_) last_arrival_s_ = now_s;
  const double silence_s = now_s - last_arrival_s_ - silence_s_;
  now_s_ = now_s;

  if (started_ && silence_s > 0.0) {
    // Shown time comes to rest; motion with it, without a step.
    silent_ = true;
    rate_ = std::exp(-silence_s / kFadeS);
    shown_s_ += rate_ * std::clamp(elapsed_s, 0.0, kJumpS);
    return false;
  }
  if (jumped || silent_) {
    started_ = true;
    silent_ = false;
    rate_ = 1.0;
    delay_s_ = wanted_delay_s();
    shown_s_ = now_s - delay_s_;
    return true;
  }
  if (elapsed_s <= 0.0) return false;
  const double change_s = std::clamp(wanted_delay_s() - delay_s_, -kShrink * elapsed_s, kGrowth * elapsed_s);
  delay_s_ += change_s;
  rate_ = (elapsed_s - change_s) / elapsed_s;
  shown_s_ = now_s - delay_s_;
  return false;
}

}  // namespace reckoner
