// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "server/src/session/stamp_watch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace reckoner {

/// The time stamps of one client. The server echoes them, so that the client can set its clock. While that
/// clock has to settle, the client needs more echoes and more datagrams: after its connection began, and when
/// the clock runs wrong. Times are server time, s.
class ClientStamps {
 public:
  /// The connection can be used since `now_s`. Does nothing if it began before.
  void begin(double now_s) {
    if (!began_s_) began_s_ = settles_from_s_ = now_s;
  }
  /// Another connection began at `now_s`.
  void restart(double now_s) {
    began_s_ = settles_from_s_ = now_s;
    stamp_.reset();
  }
  [[nodiscard]] std::optional<double> began_s() const { return began_s_; }

  /// The newest datagram of the client had this stamp, and arrived at `arrival_s`.
  void note(std::uint32_t stamp, double arrival_s) {
    stamp_ = stamp;
    arrival_s_ = arrival_s;
  }
  [[nodiscard]] double arrival_s() const { return arrival_s_; }
  /// Compares the stamp of the newest datagram with those before (StampWatch::is_wrong()).
  void check(std::uint32_t stamp, double deviation_s, double trip_change_s, double now_s) {
    if (watch_.is_wrong(stamp, arrival_s_, deviation_s, trip_change_s)) settles_from_s_ = now_s;
  }
  /// True while the client's clock has to settle.
  [[nodiscard]] bool settles(double now_s) const { return now_s - settles_from_s_ < kSettlingS; }

  /// The echo for a datagram of the tick with the time `tick_time_s`, if one is due.
  [[nodiscard]] std::optional<Echo> echo(double tick_time_s, double now_s) const {
    if (!stamp_ || now_s - echoed_s_ < (settles(now_s) ? 0.0 : kEchoIntervalS)) return std::nullopt;
    const double since_arrival = std::round((tick_time_s - arrival_s_) / kStampUnitS);
    if (std::abs(since_arrival) > Echo::kMaxWaited) return std::nullopt;
    return Echo{*stamp_, static_cast<std::int32_t>(since_arrival)};
  }
  /// A datagram was sent at `now_s`. A stamp is echoed in the next datagram or never.
  void datagram_sent(bool has_echo, double now_s) {
    if (has_echo) echoed_s_ = now_s;
    stamp_.reset();
  }

 private:
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
  static constexpr double kSettlingS = 1.5;
  // An echo costs five bytes, and a settled clock needs only the fastest of many round trips.
  static constexpr double kEchoIntervalS = 0.2;

  std::optional<double> began_s_;
  double settles_from_s_ = kLongAgo;
  double arrival_s_ = kLongAgo;
  double echoed_s_ = kLongAgo;
  std::optional<std::uint32_t> stamp_;
  StampWatch watch_;
};

}  // namespace reckoner
