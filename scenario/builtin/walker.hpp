// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <glm/vec2.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// Someone on foot, as a pure function of (seed, walker, time): straight walks between drawn points, with
/// pauses, rests and sharp turns. Walks are joined by 0.3 s of steady acceleration, so that position is C1
/// and acceleration bounded (about 25 m/s^2); the heading turns smoothly over the same 0.3 s.
struct Walker {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;  ///< which walker of this seed
  glm::dvec2 home{0.0};      ///< middle of the square it keeps to, m
  double leg_s = 2.0;        ///< time from one point to the next, at least 1.5 s
  double phase_s = 0.0;

  [[nodiscard]] Pose pose(double time_s) const;
};

/// A walker of `number`'s own making somewhere in a square of this side about the origin.
[[nodiscard]] Walker draw_walker(std::uint64_t seed, std::uint64_t number, double side_m);

}  // namespace reckoner::scenario
