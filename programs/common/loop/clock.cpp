// SPDX-License-Identifier: MIT
#include "programs/common/loop/clock.hpp"

#include <chrono>

namespace reckoner::program {

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace reckoner::program
