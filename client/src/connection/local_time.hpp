// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace reckoner {

/// Time that never goes back, whatever the clock does that the game reads. A step back counts as no time;
/// after one that is longer than any two calls are apart, time goes on from where it was: the clock was set.
class LocalTime {
 public:
  /// The time that a call at `given_s` by the game's clock is at.
  double of(double given_s) {
    constexpr double kClockWasSetS = 0.25;
    const double time_s = given_s + offset_s_;
    if (time_s >= newest_s_) return newest_s_ = time_s;
    if (newest_s_ - time_s > kClockWasSetS) offset_s_ += newest_s_ - time_s;
    return newest_s_;  // also if it is not a number
  }
  /// The same for a look at the past or the future, which moves nothing on.
  [[nodiscard]] double look(double given_s) const { return given_s + offset_s_; }

 private:
  double newest_s_ = -1e300;
  double offset_s_ = 0.0;
};

/// Notices that the program stood still between two looks at what has arrived: its machine slept, or it was
/// stopped. What had queued meanwhile is history then, of which nobody knows when it arrived.
class SleepWatch {
 public:
  /// A look at `local_s`, which never goes back. True if there was none for much longer than usual.
  bool slept(double local_s) {
    const double gap_s = any_ ? std::max(0.0, local_s - last_s_) : 0.0;
    any_ = true;
    last_s_ = local_s;
    const bool long_one = gap_s > std::max(kLeastS, kTimesUsual * usual_s_);
    // Who always looks so seldom does not sleep.
    usual_s_ += kGain * (std::min(gap_s, kMostUsualS) - usual_s_);
    return long_one;
  }

 private:
  static constexpr double kLeastS = 0.5;
  static constexpr double kTimesUsual = 4.0;
  static constexpr double kGain = 1.0 / 8.0;
  static constexpr double kMostUsualS = 2.0;

  bool any_ = false;
  double last_s_ = 0.0;
  double usual_s_ = 0.0;
};

}  // namespace reckoner
