// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Makes the game's clock monotonic. After a short step back, time stands still until the clock has caught
/// up. After a longer one somebody has set the clock, and time continues from its last value. Ignores times
/// that no clock has (is_valid_stamp()): time then stands still.
class LocalTime {
 public:
  /// Returns the monotonic time of a call at `given_s` on the game's clock, and advances to it.
  double of(double given_s) {
    constexpr double kClockWasSetS = 0.25;
    constexpr double kLargestS = 100.0 * kMaxStamp;  // a clock that is set again and again
    if (!is_valid_stamp(given_s)) return newest_s_;
    const double time_s = given_s + offset_s_;
    if (time_s >= newest_s_) return newest_s_ = std::min(time_s, kLargestS);
    if (newest_s_ - time_s > kClockWasSetS) offset_s_ += newest_s_ - time_s;
    return newest_s_;
  }
  /// Returns the monotonic time of any instant, past or future, and advances nothing.
  [[nodiscard]] double look(double given_s) const {
    return is_valid_stamp(given_s) ? given_s + offset_s_ : newest_s_;
  }

 private:
  double newest_s_ = -kMaxStamp;  // later calculations convert times to integers, which must not overflow
  double offset_s_ = 0.0;
};

/// Detects that the program did not run between two calls of receive(): its machine slept, or the process was
/// stopped. Datagrams that queued in the meantime arrived at unknown times.
class SleepWatch {
 public:
  /// Call it at every receive(), with a monotonic time. Returns true if the time since the last call is much
  /// longer than usual.
  bool slept(double local_s) {
    const double gap_s = any_ ? std::max(0.0, local_s - last_s_) : 0.0;
    any_ = true;
    last_s_ = local_s;
    const bool is_long = gap_s > std::max(kMinGapS, kTimesUsual * usual_s_);
    // A program that always calls this seldom does not sleep.
    usual_s_ += kGain * (std::min(gap_s, kMaxUsualS) - usual_s_);
    return is_long;
  }

 private:
  static constexpr double kMinGapS = 0.5;
  static constexpr double kTimesUsual = 4.0;
  static constexpr double kGain = 1.0 / 8.0;
  static constexpr double kMaxUsualS = 2.0;

  bool any_ = false;
  double last_s_ = 0.0;
  double usual_s_ = 0.0;
};

}  // namespace reckoner
