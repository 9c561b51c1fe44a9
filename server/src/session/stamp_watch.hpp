// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace reckoner {

/// Notices when a client's clock does not run like the server's. The client's time stamps then advance by
/// more or less than the time between their arrivals. The client needs time stamps from the server to correct
/// its clock, more often than a world at rest needs datagrams.
class StampWatch {
 public:
  /// Call this when the time stamp `stamp` arrived from the client at `arrival_s`. The round trips of the
  /// connection deviate by `deviation_s` from their mean, and the newest one by `trip_change_s`: if the delay
  /// has become longer or shorter, the clock is not to blame. Returns true if the client's clock is probably
  /// wrong.
  [[nodiscard]] bool is_wrong(std::uint32_t stamp, double arrival_s, double deviation_s,
                              double trip_change_s = 0.0) {
    constexpr double kSpanS = 1.0;
    constexpr double kLeastS = 0.03;
    constexpr double kDeviations = 6.0;
    const double passed_s = arrival_s - arrival_s_;
    const double advance_s = signed_difference(stamp, stamp_) * kStampUnitS;
    const bool comparable = passed_s >= 0.0 && passed_s < kLongestS;
    const double off_s = comparable ? std::abs(advance_s - passed_s) : 0.0;
    const bool differs = off_s > kLeastS + kDeviations * deviation_s;
    if (differs || !(passed_s >= 0.0 && passed_s < kSpanS)) {
      stamp_ = stamp;
      arrival_s_ = arrival_s;
    }
    return differs && off_s > 2.0 * std::abs(trip_change_s);
  }

 private:
  static constexpr double kLongestS = 60.0;  // time stamps wrap after 1677 s
  [[nodiscard]] static double signed_difference(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t kSize = 1u << kStampBits;
    const std::uint32_t difference = (a - b) & (kSize - 1u);
    const auto units = static_cast<double>(difference);
    return difference < kSize / 2 ? units : units - double{kSize};
  }

  std::uint32_t stamp_ = 0;
  double arrival_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
