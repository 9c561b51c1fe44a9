// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <string>

namespace reckoner::test {

/// A port for a server that cannot choose one itself. It is below the ports from which systems choose for
/// clients (Linux: 32768 and above): these may be in use in large numbers, also for a minute after the end of
/// a connection.
inline std::string random_port() {
  std::random_device random;
  return std::to_string(10'000 + random() % 22'000);
}

}  // namespace reckoner::test
