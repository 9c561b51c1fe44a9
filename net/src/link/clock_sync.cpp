// SPDX-License-Identifier: MIT
#include "net/src/link/clock_sync.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

constexpr double kLargestSlew = 0.02;  // fraction of the local clock's speed; players do not see it
constexpr double kStepS = 0.25;

// Two clocks drift apart by less than this within ten seconds. If the bounds contradict each other by more,
// somebody set one of the clocks, or a clock stopped.
constexpr double kContradictionS = 0.05;

constexpr double kClockSettleS = 0.5;  // time constant with which an error decays exponentially

}  // namespace

void ClockSync::add_exchange(double sent_local_s, double received_server_s, double answered_server_s,
                             double answer_local_s) {
  const double round_trip_s = (answer_local_s - sent_local_s) - (answered_server_s - received_server_s);
  if (!(round_trip_s >= 0.0) || !std::isfinite(round_trip_s)) return;
  const double upper_s = received_server_s - sent_local_s;
  if (const Bounds b = bounds(); b.lower_s && upper_s < *b.lower_s - kContradictionS) stretches_ = {};
  Stretch& stretch = stretch_at(answer_local_s);
  stretch.upper_s = stretch.has_upper ? std::min(stretch.upper_s, upper_s) : upper_s;
  stretch.has_upper = true;
  add_arrival(answered_server_s, answer_local_s);
}

void ClockSync::add_arrival(double sent_server_s, double received_local_s) {
  const double lower_s = sent_server_s - received_local_s;
  if (!std::isfinite(lower_s)) return;
  if (const Bounds b = bounds(); b.upper_s && lower_s > *b.upper_s + kContradictionS) stretches_ = {};
  Stretch& stretch = stretch_at(received_local_s);
  stretch.lower_s = stretch.has_lower ? std::max(stretch.lower_s, lower_s) : lower_s;
  stretch.has_lower = true;
}

bool ClockSync::advance(double local_s) {
  const Bounds b = bounds();
  if (!b.upper_s || !b.lower_s) return false;
  const double target_s = 0.5 * (*b.upper_s + *b.lower_s);
  if (!started_) {
    started_ = true;
    offset_s_ = target_s;
    advanced_local_s_ = local_s;
    return false;
  }
  const double elapsed_s = local_s - advanced_local_s_;
  if (!(elapsed_s > 0.0)) return false;
  advanced_local_s_ = local_s;

  const double error_s = target_s - offset_s_;
  if (std::abs(error_s) > kStepS) {
    offset_s_ = target_s;
    return true;
  }
  const double wanted_s = error_s * std::min(1.0, elapsed_s / kClockSettleS);
  const double allowed_s = kLargestSlew * elapsed_s;
  offset_s_ += std::clamp(wanted_s, -allowed_s, allowed_s);
  return false;
}

double ClockSync::server_time_s(double local_s) const {
  return local_s + offset_s_;
}

std::optional<double> ClockSync::round_trip_s() const {
  const Bounds b = bounds();
  if (!b.upper_s || !b.lower_s) return std::nullopt;
  return std::max(0.0, *b.upper_s - *b.lower_s);
}

ClockSync::Stretch& ClockSync::stretch_at(double local_s) {
  // Returns only the newest stretch, so that a clock that goes back does not change old bounds.
  newest_stretch_ = std::max(newest_stretch_, static_cast<std::int64_t>(std::floor(local_s / kStretchS)));
  constexpr auto kCount = static_cast<std::int64_t>(kStretches);
  Stretch& stretch = stretches_[static_cast<std::size_t>((newest_stretch_ % kCount + kCount) % kCount)];
  if (stretch.number != newest_stretch_) {
    stretch = {};
    stretch.number = newest_stretch_;
  }
  return stretch;
}

ClockSync::Bounds ClockSync::bounds() const {
  Bounds b;
  if (newest_stretch_ == kNoStretch) return b;
  const auto oldest = newest_stretch_ - static_cast<std::int64_t>(kStretches);
  for (const Stretch& s : stretches_) {
    if (s.number <= oldest) continue;
    if (s.has_upper) b.upper_s = b.upper_s ? std::min(*b.upper_s, s.upper_s) : s.upper_s;
    if (s.has_lower) b.lower_s = b.lower_s ? std::max(*b.lower_s, s.lower_s) : s.lower_s;
  }
  return b;
}

}  // namespace reckoner
