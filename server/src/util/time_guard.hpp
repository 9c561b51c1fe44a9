// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <optional>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Decides whether the server can accept a time from its game, s. A time that no clock has is refused. So is
/// a time that is more than a day from the last one, unless the next call confirms it: one wrong time must
/// not end sessions, and somebody may set the clock.
class TimeGuard {
 public:
  [[nodiscard]] bool accepts(double time_s) {
    if (!is_time(time_s)) return false;
    const bool near = !last_s_ || is_near(time_s, *last_s_) || (doubtful_s_ && is_near(time_s, *doubtful_s_));
    if (!near) {
      doubtful_s_ = time_s;
      return false;
    }
    doubtful_s_.reset();
    last_s_ = time_s;
    return true;
  }

 private:
  // Later calculations convert times to integers. The first tick is at most kMaxStamp. False for NaN.
  [[nodiscard]] static bool is_time(double time_s) { return std::abs(time_s) <= 2.0 * kMaxStamp; }
  [[nodiscard]] static bool is_near(double a_s, double b_s) {
    constexpr double kDayS = 86'400.0;
    return std::abs(a_s - b_s) <= kDayS;
  }

  std::optional<double> last_s_;
  std::optional<double> doubtful_s_;
};

}  // namespace reckoner
