// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/random.hpp"

#include <cmath>
#include <numbers>

#include <glm/vec3.hpp>

namespace reckoner::scenario {

/// A unit vector whose directions are evenly distributed over the sphere (Archimedes: the height is uniform).
[[nodiscard]] inline glm::dvec3 random_direction(Random& random) {
  const double z = random.uniform(-1.0, 1.0);
  const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
  const double radius = std::sqrt(1.0 - z * z);
  return {radius * portable::cos(angle), radius * portable::sin(angle), z};
}

}  // namespace reckoner::scenario
