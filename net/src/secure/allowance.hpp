// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace reckoner::secure {

/// Hands out so much a second and saves up some (a token bucket). Begins full. Time on any clock that never
/// goes back.
class Allowance {
 public:
  /// False, and nothing is taken, if there is not so much. `depth`: what can be saved up.
  bool take(double amount, double per_second, double depth, double now_s) {
    left_ = left(per_second, depth, now_s);
    since_s_ = begun_ ? std::max(since_s_, now_s) : now_s;
    begun_ = true;
    if (!(left_ >= amount)) return false;
    left_ -= amount;
    return true;
  }

  /// True if it has saved up all that it can, as if it were new.
  [[nodiscard]] bool full(double per_second, double depth, double now_s) const {
    return left(per_second, depth, now_s) >= depth;
  }

 private:
  [[nodiscard]] double left(double per_second, double depth, double now_s) const {
    return begun_ ? std::min(depth, left_ + per_second * std::max(0.0, now_s - since_s_)) : depth;
  }

  double left_ = 0.0;
  double since_s_ = 0.0;
  bool begun_ = false;
};

}  // namespace reckoner::secure
