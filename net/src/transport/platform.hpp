// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace reckoner {

/// A long wait is cut into slices of this length, s, so that what a transport sends again by
/// a timer (a request to connect, a close, ENet's commands) stays on time.
inline constexpr double kWaitSliceSeconds = 0.05;

/// Seconds on the machine's monotonic clock.
[[nodiscard]] double steady_seconds();

/// Milliseconds since 1970 on the machine's wall clock. Somebody may set this clock forward or back.
[[nodiscard]] std::uint64_t unix_milliseconds();

/// Seconds since 1970 on the machine's wall clock.
[[nodiscard]] inline std::uint64_t unix_seconds() {
  return unix_milliseconds() / 1000;
}

/// Sleeps for `seconds`, at most one second.
void nap(double seconds);

/// Waits for a transport's events, for at most `seconds` and at most one hour. `flush(always)` sends waiting
/// data and receives what has arrived. With `always` false, it does so only if data waits to be sent. It
/// returns true if something has arrived. `sleep(s)` sleeps for at most `s` seconds and returns true if
/// something ended the sleep early.
///
/// A flush visits all peers. The first flush therefore happens only if data waits to be sent. Arriving data
/// ends a sleep anyway, and what a timer sends again can wait for one slice.
template <class Flush, class Sleep>
void wait_in_slices(double seconds, Flush flush, Sleep sleep) {
  const double end_s = steady_seconds() + std::clamp(std::isnan(seconds) ? 0.0 : seconds, 0.0, 3600.0);
  for (bool always = false;; always = true) {
    if (flush(always)) return;
    const double left_s = end_s - steady_seconds();
    if (left_s <= 0.0 || sleep(std::min(left_s, kWaitSliceSeconds))) return;
  }
}

}  // namespace reckoner
