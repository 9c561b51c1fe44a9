// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/log.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Logs refusals, added up by reason. Logs at most once a second, and only if there is a new refusal, so a
/// flood of datagrams never floods the log. Not thread-safe.
class RECKONER_NET_API RefusalLog {
 public:
  /// Minimum interval between two reports, in seconds.
  static constexpr double kIntervalS = 1.0;

  /// True at most once per interval; then call say(). `now_s` is in seconds on a monotonic clock.
  [[nodiscard]] bool due(double now_s) {
    if (now_s - looked_s_ < kIntervalS) return false;
    looked_s_ = now_s;
    return true;
  }

  /// Logs the refusals since the last call: one record for each reason, with the message `event`. The level
  /// is warning. It is debug for reasons that a bad network causes without anybody's fault. A count that has
  /// fallen is treated as restarted from zero.
  void say(const LogSink& sink, std::string_view event, const RefusalCounts& counts);

 private:
  RefusalCounts said_;
  double looked_s_ = -1e300;
};

}  // namespace reckoner
