// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

namespace reckoner {

/// While a local clock stands or crawls, server time advances by steps alone, many in a row. A blend over
/// each of them would make no progress and keep everything where it is. So only the first one is blended. The
/// others are like pictures that took long: what is shown moves on, and an unfinished blend goes on.
class StepsInARow {
 public:
  /// The clock has stepped by `by_s` at local time `local_s`, s. Returns true if the step counts as time that
  /// has passed. Call it for every step.
  bool add(double local_s, double by_s) {
    const bool passes = by_s > 0.0 && by_s < kLongestS && local_s - stepped_local_s_ < kApart * by_s;
    stepped_local_s_ = local_s;
    return passes;
  }

 private:
  static constexpr double kLongestS = 0.35;  // a longer step is a silence, too
  // A clock that runs at half its speed needs no steps: its rate is corrected.
  static constexpr double kApart = 1.0;

  double stepped_local_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
