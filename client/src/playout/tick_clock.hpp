// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Converts the server's ticks to server time.
struct TickClock {
  double epoch_s = 0.0;        ///< server time of tick 0, s
  double tick_rate_hz = 60.0;  ///< ticks per second, Hz

  [[nodiscard]] double time_of(Tick tick) const { return epoch_s + tick / tick_rate_hz; }
  /// The last tick at or before `time_s`.
  [[nodiscard]] Tick tick_at(double time_s) const { return whole_ticks((time_s - epoch_s) * tick_rate_hz); }
};

}  // namespace reckoner
