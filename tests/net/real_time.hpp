// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace reckoner::test {

/// For how long something has taken: seconds on a clock that never goes back.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What tokens are dated by: seconds since 1970.
inline std::uint64_t unix_s() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

}  // namespace reckoner::test
