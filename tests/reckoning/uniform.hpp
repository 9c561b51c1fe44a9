// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner::test {

/// Uniform in [-1, 1), identical on every platform.
struct Uniform {
  float operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  std::uint32_t state = 1;
};

}  // namespace reckoner::test
