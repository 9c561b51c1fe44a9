// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Converts times of the game's clock to the client's local time, which is monotonic and runs at the rate of
/// the server's clock. Ignores times that no clock has (is_valid_stamp()) and lone times that are far from
/// the others, such as a zero; local time then stands still.
class LocalTime {
 public:
  /// Returns local time at `given_s` on the game's clock, and advances to it. Call it in update(). After a
  /// short step back, time stands still until the clock has caught up. If the next call confirms a longer
  /// step, somebody has set the clock, and time continues from its last value.
  double of(double given_s) {
    constexpr double kLargestS = 100.0 * kMaxStamp;  // a clock that is set again and again
    if (!is_valid_stamp(given_s)) return refuse();
    double time_s = converted(given_s);
    if (started_ && is_far(time_s - newest_s_)) {
      const bool confirmed = far_s_ && !is_far(given_s - *far_s_);
      if (!confirmed) {
        far_s_ = given_s;
        return refuse();
      }
      offset_s_ += newest_s_ - converted(*far_s_);
      time_s = converted(given_s);
    }
    far_s_.reset();
    started_ = true;
    given_s_ = given_s;
    if (time_s >= newest_s_) newest_s_ = std::min(time_s, kLargestS);
    return newest_s_;
  }

  /// Local seconds per second of the game's clock.
  [[nodiscard]] double rate() const { return rate_; }
  /// Multiplies the rate by `factor` from now on.
  void change_rate(double factor) {
    constexpr double kRoundingShare = 1e-9;
    const double now_s = converted(given_s_);
    rate_ *= factor;
    if (std::abs(rate_ - 1.0) < kRoundingShare) rate_ = 1.0;
    offset_s_ += now_s - converted(given_s_);
  }

  /// Number of times that were ignored.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  // A step forward by less than this may be a sleep of the machine.
  static constexpr double kFarS = 3600.0;
  static constexpr double kFarBackS = 0.05;
  [[nodiscard]] static bool is_far(double by_s) { return by_s < -kFarBackS || by_s > kFarS; }

  [[nodiscard]] double converted(double given_s) const { return given_s * rate_ + offset_s_; }
  double refuse() {
    ++refused_;
    return newest_s_;
  }

  bool started_ = false;
  double newest_s_ = -kMaxStamp;  // later calculations convert times to integers, which must not overflow
  double given_s_ = 0.0;          // the last time that of() accepted, on the game's clock
  double rate_ = 1.0;
  double offset_s_ = 0.0;
  std::optional<double> far_s_;  // a time far from the others, which the next one may confirm
  std::uint64_t refused_ = 0;
};

/// Detects that the program did not run between two calls of update(): its machine slept, or the process was
/// stopped. Datagrams that queued in the meantime arrived at unknown times.
class SleepWatch {
 public:
  /// Call it at every update(), with a monotonic time. Returns true if the time since the last call is much
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
