// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {

/// Seeded random numbers, identical on every platform (S. Vigna, splitmix64).
class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}

  double between(double low, double high) {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    z ^= z >> 31U;
    return low + (high - low) * static_cast<double>(z >> 11U) * 0x1.0p-53;
  }

  template <CurveVector V>
  V vector(double low, double high) {
    if constexpr (std::same_as<V, double>) {
      return between(low, high);
    } else {
      V v(0.0);
      for (int i = 0; i < V::length(); ++i)
        v[i] = between(low, high);
      return v;
    }
  }

  template <CurveVector V>
  std::vector<V> points(std::size_t count, double low = -10.0, double high = 10.0) {
    std::vector<V> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(vector<V>(low, high));
    return out;
  }

 private:
  std::uint64_t state_;
};

}  // namespace reckoner
