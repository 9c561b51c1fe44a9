// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// Bodies that wander over the whole world. A body's state is a pure function of its number and of time, so
/// that every process can move every body, and every client knows the truth.
class Wander {
 public:
  /// The world is a square with this side, m, around the origin.
  explicit Wander(double side_m, std::uint64_t seed) : side_m_(side_m), seed_(seed) {}

  [[nodiscard]] State at(std::size_t body, double time_s) const {
    State state;
    axis(body, 0, time_s, state.position.x, state.velocity.x, state.acceleration.x);
    axis(body, 1, time_s, state.position.y, state.velocity.y, state.acceleration.y);
    return state;
  }

 private:
  // The fast term is what prediction has to follow; the slow ones lead through the world.
  void axis(std::size_t body, std::uint64_t axis_number, double time_s, double& position, float& velocity,
            float& acceleration) const {
    double p = 0.0, v = 0.0, a = 0.0;
    for (std::uint64_t term = 0; term < 3; ++term) {
      const double phase = 6.283185307179586 * share(body, 6 * axis_number + 2 * term);
      const double vary = 0.75 + 0.5 * share(body, 6 * axis_number + 2 * term + 1);
      constexpr double kAmplitude[] = {0.33, 0.14};    // of the side
      constexpr double kSpeedMps[] = {9.0, 5.0, 3.0};  // largest speed of a term, m/s
      constexpr double kFastM = 1.5;
      const double amplitude = term < 2 ? kAmplitude[term] * side_m_ : kFastM;
      const double omega = vary * kSpeedMps[term] / amplitude;
      p += amplitude * std::sin(omega * time_s + phase);
      v += amplitude * omega * std::cos(omega * time_s + phase);
      a -= amplitude * omega * omega * std::sin(omega * time_s + phase);
    }
    position = p;
    velocity = static_cast<float>(v);
    acceleration = static_cast<float>(a);
  }
  // A number from 0 to 1 (SplitMix64).
  [[nodiscard]] double share(std::uint64_t body, std::uint64_t which) const {
    std::uint64_t z = seed_ + 0x9E3779B97F4A7C15ull * (1 + 16 * body + which);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

  double side_m_;
  std::uint64_t seed_;
};

}  // namespace reckoner::harness
