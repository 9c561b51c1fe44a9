// SPDX-License-Identifier: MIT
#pragma once

#include "body.hpp"

#include <random>

namespace arena {

/// Equal numbers on every machine, unlike std::uniform_real_distribution.
inline double uniform(std::mt19937& random, double least, double most) {
  return least + (most - least) * static_cast<double>(random()) / 4294967296.0;
}

/// Runs to a place, through the doors if need be, and dashes when the place is near.
Controls chase(const reckoner::State& self, const glm::dvec2& goal);

/// Decides where a body walks.
class Bot {
 public:
  explicit Bot(std::mt19937::result_type seed) : random_(seed) {}

  /// Walks to places of its own choice through the doors, and keeps its distance from others and from the
  /// platform. `others` are the places of all fighters, including its own.
  Controls roam(const reckoner::State& self, std::span<const glm::dvec2> others, const glm::dvec2& platform,
                double step_s);
  /// Stands on the platform, and now and then walks to another place on it. `local` is relative to the deck.
  Controls ride(const reckoner::State& local, double step_s);

 private:
  std::mt19937 random_;
  glm::dvec2 goal_{0.0};
  double goal_left_s_ = 0.0;  // then it chooses another goal
  bool arrived_ = true;       // at its goal on the deck
};

}  // namespace arena
