// SPDX-License-Identifier: MIT
#include "client/src/prediction/input_clock.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

// A difference that would take longer than 12 s to remove at the largest rate is a stall.
constexpr double kStallS = 0.25;
// The clock removes a difference in about this time, s.
constexpr double kFollowS = 0.5;
// This share of the inputs may need a longer lead. Half of what is acceptable: the network changes, too.
constexpr double kLateShare = 0.0015;
// Added to the quantile, in ticks: the reports are rounded down, and frames vary.
constexpr double kMarginTicks = 0.1;
constexpr std::size_t kSortEvery = 10;

}  // namespace

bool InputClock::advance(double local_s, double server_s, double guess_s, double tick_s) {
  const double wanted_s = server_s + wanted_lead_s(guess_s, tick_s);
  const double elapsed_s = std::max(0.0, local_s - local_s_);
  local_s_ = local_s;
  const double error_s = wanted_s - (time_s_ + elapsed_s);
  jumped_ = !started_ || std::abs(error_s) > kStallS;
  if (jumped_) {
    time_s_ = wanted_s;
    drift_ = 0.0;
  } else {
    const double wanted_drift = std::clamp(error_s / kFollowS, -kMostRate, kMostRate);
    const double most = kMostRateChange * elapsed_s;
    drift_ += std::clamp(wanted_drift - drift_, -most, most);
    time_s_ += elapsed_s * (1.0 + drift_);
  }
  started_ = true;
  lead_s_ = time_s_ - server_s;
  return jumped_;
}

void InputClock::note_picture() {
  if (asked_s_ && local_s_ <= *asked_s_) return;  // the same picture
  constexpr double kShare = 1.0 / 32.0;
  if (asked_s_) picture_s_ += kShare * (std::min(local_s_ - *asked_s_, kStallS) - picture_s_);
  asked_s_ = local_s_;
}

void InputClock::note_early(double lead_s, double waited_s, double early_s) {
  const double needed_s = lead_s - early_s + std::max(0.0, picture_s_ - waited_s);
  ++since_sort_;
  if (needed_s_.size() < kReports) return needed_s_.push_back(needed_s);
  needed_s_[next_] = needed_s;
  next_ = (next_ + 1) % kReports;
}

double InputClock::wanted_lead_s(double guess_s, double tick_s) {
  if (needed_s_.size() < kEnoughReports) return guess_s;
  if (since_sort_ < kSortEvery && wanted_s_ != 0.0) return wanted_s_;
  since_sort_ = 0;
  sorted_ = needed_s_;
  // With few reports, the largest one.
  const auto late = static_cast<std::ptrdiff_t>(kLateShare * static_cast<double>(sorted_.size()));
  const auto place = sorted_.begin() + late;
  std::nth_element(sorted_.begin(), place, sorted_.end(), std::greater<>());
  wanted_s_ = *place + kMarginTicks * tick_s;
  return wanted_s_;
}

}  // namespace reckoner
