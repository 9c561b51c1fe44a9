// SPDX-License-Identifier: MIT
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace reckoner {

void nap(double seconds) {
  seconds = std::clamp(seconds, 0.0, 1.0);
#ifdef _WIN32
  // Windows sleeps for whole milliseconds and would not sleep at all for less than one.
  constexpr double kUnitS = 1e-3;
  seconds = kUnitS * std::ceil(seconds / kUnitS);
#endif
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t unix_milliseconds() {
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(since_1970).count());
}

}  // namespace reckoner
