// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/log.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Says what was refused, by reason, once a second at most and only if there is something to say: whoever
/// floods a port does not flood the log. One thread at a time.
class RECKONER_NET_API RefusalLog {
 public:
  /// Seconds between two looks.
  static constexpr double kIntervalS = 1.0;

  /// True once a second: then say() is due. `now_s` on any clock that never goes back.
  [[nodiscard]] bool due(double now_s) {
    if (now_s - looked_s_ < kIntervalS) return false;
    looked_s_ = now_s;
    return true;
  }

  /// Says what has been refused since the last call, a record for each reason: a warning, or for debugging
  /// only if honest ends do it too, on a bad network. `event` is what to call it; counts that fell are
  /// taken as begun anew.
  void say(const LogSink& sink, std::string_view event, const RefusalCounts& counts);

 private:
  RefusalCounts said_;
  double looked_s_ = -1e300;
};

}  // namespace reckoner
