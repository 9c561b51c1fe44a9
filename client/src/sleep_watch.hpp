// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace reckoner {

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
