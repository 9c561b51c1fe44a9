// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Round trip and its deviation, smoothed as V. Jacobson, "Congestion Avoidance and Control" (1988), and RFC
/// 6298 have it.
class RECKONER_NET_API LinkEstimate {
 public:
  /// Adds a measured round trip, s; negative or absurd (over 10 s) ones are ignored.
  void add(double round_trip_s);

  /// Whether anything was measured.
  [[nodiscard]] bool known() const { return known_; }
  /// Smoothed, s; 0 before anything was measured.
  [[nodiscard]] double round_trip_s() const { return round_trip_s_; }
  /// Smoothed mean deviation of the round trip, s.
  [[nodiscard]] double deviation_s() const { return deviation_s_; }

  /// When a datagram without an answer counts as lost: round trip + 4 deviations + `answer_delay_s`, the
  /// longest that the other end waits before it answers. One second before anything was measured (RFC 6298).
  [[nodiscard]] double timeout_s(double answer_delay_s) const;

  /// How long an update takes to arrive: half the round trip plus its deviation, at most 250 ms so that one
  /// slow or lying client does not bend decisions that are made for all.
  [[nodiscard]] double one_way_s() const;

 private:
  bool known_ = false;
  double round_trip_s_ = 0.0;
  double deviation_s_ = 0.0;
};

}  // namespace reckoner
