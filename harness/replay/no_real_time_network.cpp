// SPDX-License-Identifier: MIT
// For builds without sockets, such as WebAssembly. enet_network.cpp has the function for all others.
#include "harness/replay/replay_network.hpp"

namespace reckoner::harness {

Result<std::unique_ptr<RealTimeNetwork>> open_real_time_network(const ReplayOptions&, double, std::uint32_t) {
  return Error{"this build has no sockets, so it replays in virtual time only"};
}

}  // namespace reckoner::harness
