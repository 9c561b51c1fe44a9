// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace reckoner::test {

/// How long a test over real sockets waits before it fails, s. Generous, because the machine may be busy.
inline constexpr double kTimeoutS = 40.0;

/// Seconds on a monotonic clock, to measure durations.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds since 1970, for the time stamps of tokens.
inline std::uint64_t unix_s() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

/// Calls `turn` until `done` returns true (result: true) or until the time is up (result: false).
template <class Turn, class Done>
bool turn_until(const Turn& turn, const Done& done, double patience_s) {
  constexpr std::chrono::microseconds kNap{200};
  for (const double end_s = now_s() + patience_s; now_s() < end_s; std::this_thread::sleep_for(kNap)) {
    turn();
    if (done()) return true;
  }
  return false;
}

}  // namespace reckoner::test
