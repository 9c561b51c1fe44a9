// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The smoothed round trip of a link and its mean deviation (V. Jacobson, "Congestion Avoidance and Control",
/// 1988; RFC 6298).
class RECKONER_NET_API LinkEstimate {
 public:
  /// Adds a measured round trip, s. Negative values and values over 10 s are ignored.
  void add(double round_trip_s);

  /// True once a round trip was measured.
  [[nodiscard]] bool known() const { return known_; }
  /// Smoothed round trip, s; 0 before the first measurement.
  [[nodiscard]] double round_trip_s() const { return round_trip_s_; }
  /// Smoothed mean deviation of the round trip, s; 0 before the first measurement.
  [[nodiscard]] double deviation_s() const { return deviation_s_; }

  /// How long after sending an unacknowledged datagram counts as lost, s: round trip + 4 deviations +
  /// `answer_delay_s`, the longest time that the other end waits before it answers. One second before the
  /// first measurement (RFC 6298).
  [[nodiscard]] double timeout_s(double answer_delay_s) const;

  /// The estimated one-way delay of an update, s: half the round trip plus the deviation. At most 250 ms, so
  /// that one slow or lying client does not change decisions for all clients.
  [[nodiscard]] double one_way_s() const;

 private:
  bool known_ = false;
  double round_trip_s_ = 0.0;
  double deviation_s_ = 0.0;
};

}  // namespace reckoner
