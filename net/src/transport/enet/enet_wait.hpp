// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace reckoner {

/// The machine's clock, which ENet goes by too; never goes back.
[[nodiscard]] double steady_seconds();

/// The machine's wall clock, milliseconds since 1970: may be set, ahead or back.
[[nodiscard]] std::uint64_t unix_milliseconds();

/// The same, seconds.
[[nodiscard]] inline std::uint64_t unix_seconds() {
  return unix_milliseconds() / 1000;
}

/// Sleeps until one of several sockets (file descriptors) can be read, a signal comes or `seconds`, at most a
/// second, have passed; false only in the last case. Linux, the one system that shares a port.
bool wait_for_sockets(std::span<const std::intptr_t> sockets, double seconds);

/// Sleeps, a second at most.
void nap(double seconds);

/// Lets several sockets have one port, each of which then hears of some of the addresses that send there,
/// always the same. False where the system does not: others than Linux have the option too, but do not share
/// out by address.
bool share_port(std::intptr_t socket);

/// Waits for a transport's events at most `seconds`, at most an hour. `flush(always)` sends what waits and
/// looks for what has arrived - if nothing waits, only if `always` -, and says whether something has;
/// `sleep(s)` says whether something ended it before its time. A flush walks all peers, so the first one is
/// made only if something waits to be sent: what has arrived ends a sleep anyway, and ENet's resends can wait
/// a slice.
template <class Flush, class Sleep>
void wait_in_slices(double seconds, Flush flush, Sleep sleep) {
  const double end_s = steady_seconds() + std::clamp(std::isnan(seconds) ? 0.0 : seconds, 0.0, 3600.0);
  for (bool always = false;; always = true) {
    if (flush(always)) return;
    const double left_s = end_s - steady_seconds();
    if (left_s <= 0.0 || sleep(std::min(left_s, enet_limits::kWaitSliceSeconds))) return;
  }
}

}  // namespace reckoner
