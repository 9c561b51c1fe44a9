// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::program {

/// Sleeps until `due_s` (monotonic_s()), and calls `receive` when something has arrived: with few clients at
/// once, for their clocks' sake; with many a moment later, since taking in costs a look at each of them
/// whatever has arrived. 4 us a client keep that below a twentieth of one core.
template <class Receive>
void receive_until(double due_s, NetworkTransport& transport, std::size_t clients, Receive receive) {
  constexpr double kGatherPerClientS = 4e-6;
  const double gather_s = kGatherPerClientS * static_cast<double>(clients);
  for (double left_s = due_s - monotonic_s(); left_s > 0.0; left_s = due_s - monotonic_s()) {
    transport.wait(left_s);
    const double rest_s = std::min(gather_s, due_s - monotonic_s());
    if (rest_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(rest_s));
    if (monotonic_s() < due_s) receive();
  }
  receive();
}

}  // namespace reckoner::program
