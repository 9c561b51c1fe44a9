// SPDX-License-Identifier: MIT
#include "programs/common/loop/clock.hpp"

#include <chrono>

namespace reckoner::program {

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double wall_s() {
  static const double ahead_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
      monotonic_s();
  return monotonic_s() + ahead_s;
}

}  // namespace reckoner::program
