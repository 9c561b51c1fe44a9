// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// True if tick `a` is before tick `b`. Correct across the wrap of the 32-bit counter, as long as the two
/// ticks are less than 2^31 apart.
constexpr bool earlier(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace reckoner
