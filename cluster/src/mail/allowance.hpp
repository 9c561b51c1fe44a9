// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

namespace reckoner::cluster {

/// How many bytes a sender may still send: so many per second, and as many at once (token bucket).
class Allowance {
 public:
  /// Spends `bytes` if there are so many.
  [[nodiscard]] bool spend(std::size_t bytes, double bytes_per_s, double now_s) {
    left_ = std::min(bytes_per_s, left_ + (now_s - since_s_) * bytes_per_s);
    since_s_ = now_s;
    if (static_cast<double>(bytes) > left_) return false;
    left_ -= static_cast<double>(bytes);
    return true;
  }
  /// The message was not sent after all.
  void give_back(std::size_t bytes) { left_ += static_cast<double>(bytes); }

 private:
  double left_ = 0.0;
  double since_s_ = -1e300;  // so a new sender has everything
};

}  // namespace reckoner::cluster
