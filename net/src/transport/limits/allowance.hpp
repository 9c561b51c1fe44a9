// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace reckoner::secure {

/// A token bucket: it fills at a given rate, up to a given depth. A new bucket is full. All times are in
/// seconds on a monotonic clock.
class Allowance {
 public:
  /// Removes `amount` from the bucket. If the bucket contains less, removes nothing and returns false.
  /// `per_second` is the fill rate; `depth` is the most that the bucket contains.
  bool spend(double amount, double per_second, double depth, double now_s) {
    left_ = left(per_second, depth, now_s);
    since_s_ = begun_ ? std::max(since_s_, now_s) : now_s;
    begun_ = true;
    if (!(left_ >= amount)) return false;
    left_ -= amount;
    return true;
  }

  /// True if the bucket is full, like a new one. A caller can then delete it without any effect on the
  /// limits.
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
