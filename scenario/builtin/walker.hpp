// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <glm/vec2.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// A walking person, as a pure function of (seed, walker, time). The person walks straight between random
/// points, with pauses, rests and sharp turns. Every change of velocity takes 0.3 s of constant acceleration.
/// So the position is C1 and the acceleration is bounded (about 25 m/s^2). The heading turns smoothly within
/// these 0.3 s.
struct Walker {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;  ///< index of the walker for this seed
  glm::dvec2 home{0.0};      ///< centre of the square in which the person walks, m
  double leg_s = 2.0;        ///< time from one point to the next, s; at least 1.5
  double phase_s = 0.0;

  [[nodiscard]] Pose pose(double time_s) const;
};

/// Creates a walker with a random home in a square around the origin. `side_m` is the side of the square, m.
/// The result depends only on the arguments.
[[nodiscard]] Walker draw_walker(std::uint64_t seed, std::uint64_t number, double side_m);

}  // namespace reckoner::scenario
