// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// True if `a` is before `b`, across the wrap.
constexpr bool earlier(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace reckoner
