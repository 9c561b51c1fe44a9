// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/motion/portable_math.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace reckoner::scenario {

/// Finaliser of SplitMix64 (Steele, Lea and Flood 2014, variant 13 of Stafford). A bijection: each input bit
/// changes each output bit with a probability near one half.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Stateless hash of any number of integers. The order of the integers matters. Use it for motion that is a
/// pure function of (seed, entity, leg, ...). Equal arguments give equal bits on every machine.
template <std::integral... Values>
[[nodiscard]] constexpr std::uint64_t hash(Values... values) {
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  ((state = mix_bits(state + static_cast<std::uint64_t>(values)) + 0x9e3779b97f4a7c15u), ...);
  return mix_bits(state);
}

/// Converts the top 53 bits to a number in [0, 1).
[[nodiscard]] constexpr double to_unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// hash() converted to a number in [0, 1).
template <std::integral... Values>
[[nodiscard]] constexpr double hash_uniform(Values... values) {
  return to_unit_interval(hash(values...));
}

/// A small seeded random generator (SplitMix64). A copy of a generator continues the sequence where the
/// original is at the time of the copy. Integers and uniform numbers are equal on every machine. normal()
/// uses the machine's log and cosine, so it may differ between machines. Not for secrets. Not thread-safe.
class Random {
 public:
  /// Different streams with one seed are independent. For example, use one stream for loss and another for
  /// jitter.
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(hash(seed, stream)) {}

  /// Returns 64 random bits.
  constexpr std::uint64_t next() { return mix_bits(state_ += 0x9e3779b97f4a7c15u); }

  /// Returns a number in [0, 1).
  constexpr double uniform() { return to_unit_interval(next()); }

  /// Returns a number in [low, high).
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Returns an integer from 0 to count - 1. `count` must not be 0. The bias is below count / 2^64.
  constexpr std::uint64_t below(std::uint64_t count) { return next() % count; }

  /// Returns true with the given probability: 0 means never, 1 means always. Always uses one random number.
  constexpr bool chance(double probability) { return uniform() < probability; }

  /// Draws from the normal distribution with mean 0 and standard deviation 1 (Box and Muller 1958). Always
  /// uses two random numbers, so that later results do not depend on the values drawn.
  double normal() {
    const double radius = std::sqrt(-2.0 * portable::log(1.0 - uniform()));  // 1 - u is never 0
    return radius * portable::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace reckoner::scenario
