// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner::scenario {

/// How to record the scene `asteroids`.
struct AsteroidsOptions {
  std::size_t bodies = 250;
  std::uint64_t seed = 1;
  double settling_s = 300.0;  ///< simulated before the recording begins, s
  double seconds = 120.0;     ///< length of the recording, s
};

/// Records colliding bodies in a ball-shaped part of space, 60 samples per second from t = 1/60 s on: the
/// scene of KinematicSoup's network benchmark (2020 to 2025), which has published results for seven products.
/// Bodies are convex hulls of different sizes that fly straight and spin. They steer back when they leave the
/// ball, regain their own speed after collisions, and bounce off each other and off a resting sphere at the
/// centre.
[[nodiscard]] Recording record_asteroids(const AsteroidsOptions& options);

}  // namespace reckoner::scenario
