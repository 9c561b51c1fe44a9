// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <glm/vec3.hpp>

namespace reckoner {

/// Four numbers that one instruction adds or multiplies. Each lane is computed like a single float, so the
/// results have the same bits on every processor.
#if defined(__GNUC__)
using FourFloats = float __attribute__((vector_size(16)));
#else
struct alignas(16) FourFloats {
  float lanes[4]{};
  [[nodiscard]] float& operator[](std::size_t i) { return lanes[i]; }
  [[nodiscard]] const float& operator[](std::size_t i) const { return lanes[i]; }
  friend FourFloats operator+(FourFloats a, const FourFloats& b) {
    for (std::size_t i = 0; i < 4; ++i)
      a.lanes[i] += b.lanes[i];
    return a;
  }
  friend FourFloats operator-(FourFloats a, const FourFloats& b) {
    for (std::size_t i = 0; i < 4; ++i)
      a.lanes[i] -= b.lanes[i];
    return a;
  }
  friend FourFloats operator*(FourFloats a, const FourFloats& b) {
    for (std::size_t i = 0; i < 4; ++i)
      a.lanes[i] *= b.lanes[i];
    return a;
  }
  friend FourFloats operator/(FourFloats a, const FourFloats& b) {
    for (std::size_t i = 0; i < 4; ++i)
      a.lanes[i] /= b.lanes[i];
    return a;
  }
  friend FourFloats operator*(const FourFloats& a, float b) { return a * FourFloats{{b, b, b, b}}; }
  FourFloats& operator+=(const FourFloats& b) { return *this = *this + b; }
};
#endif

/// The components of a vector in the first three lanes, and 0 in the last.
inline FourFloats four_floats(const glm::vec3& v) {
  return FourFloats{v.x, v.y, v.z, 0.0f};
}

/// The first three lanes.
inline glm::vec3 three_of(const FourFloats& v) {
  return {v[0], v[1], v[2]};
}

}  // namespace reckoner
