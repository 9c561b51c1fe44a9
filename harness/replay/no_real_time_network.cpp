// SPDX-License-Identifier: MIT
// For builds without sockets, such as WebAssembly. real_network.cpp has the function for all others.
#include "harness/replay/replay_network.hpp"

namespace reckoner::harness {

Result<std::unique_ptr<RealTimeNetwork>> open_real_time_network(const ReplayOptions&, double) {
  return Error{"this build has no sockets, so it replays in virtual time only"};
}

}  // namespace reckoner::harness
