// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace reckoner
