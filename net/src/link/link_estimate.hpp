// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Estimates the round trip of a connection: its smoothed value and its mean deviation (V. Jacobson,
/// "Congestion Avoidance and Control", 1988; RFC 6298).
class RECKONER_NET_API LinkEstimate {
 public:
  /// Adds a measured round trip, s. Ignores negative values and values of 10 s or more.
  void add(double round_trip_s);

  /// Returns true after the first accepted measurement.
  [[nodiscard]] bool known() const { return known_; }
  /// Returns the smoothed round trip, s; 0 before the first measurement.
  [[nodiscard]] double round_trip_s() const { return round_trip_s_; }
  /// Returns the smoothed mean deviation of the round trip, s; 0 before the first measurement.
  [[nodiscard]] double deviation_s() const { return deviation_s_; }

  /// Returns the timeout, s: if a datagram is not acknowledged within this time after sending, it counts as
  /// lost. `answer_delay_s` is the longest time that the other end waits before it answers, s. The timeout is
  /// round trip + 4 * deviation + `answer_delay_s`, but at least 50 ms. Before the first measurement, it is
  /// one second (RFC 6298).
  [[nodiscard]] double timeout_s(double answer_delay_s) const;

  /// Returns the estimated one-way delay of an update, s. It is half the round trip plus the deviation, but
  /// at most 250 ms. Because of this limit, a client that is slow or reports false delays has little effect
  /// on the other clients.
  [[nodiscard]] double one_way_s() const;

 private:
  bool known_ = false;
  double round_trip_s_ = 0.0;
  double deviation_s_ = 0.0;
};

}  // namespace reckoner
