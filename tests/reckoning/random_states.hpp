// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {

/// A seeded source of numbers and states for property tests.
class RandomStates {
 public:
  explicit RandomStates(std::uint64_t seed) : state_(seed) {}

  /// Uniform in [least, most). SplitMix64 (S. Vigna).
  double number(double least, double most) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return least + (most - least) * static_cast<double>(z >> 11) * 0x1p-53;
  }

  glm::dvec3 vector(double size) { return {number(-size, size), number(-size, size), number(-size, size)}; }

  State state() {
    State s;
    s.position = vector(1000.0);
    s.velocity = glm::vec3{vector(30.0)};
    s.acceleration = glm::vec3{vector(20.0)};
    s.orientation = glm::normalize(glm::quat{static_cast<float>(number(-1, 1)), glm::vec3{vector(1.0)}});
    s.angular_velocity = glm::vec3{vector(5.0)};
    return s;
  }

 private:
  std::uint64_t state_;
};

}  // namespace reckoner::test
