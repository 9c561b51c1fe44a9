// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/sim/sim_transport.hpp"

namespace reckoner::harness {

/// The virtual network that the options of a replay describe. `start_s`: its first time, s.
[[nodiscard]] SimNetworkConfig sim_network_config(const ReplayOptions& options, double start_s);

}  // namespace reckoner::harness
