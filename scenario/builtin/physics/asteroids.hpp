// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/physics/physics_scenes.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner::scenario {

inline constexpr std::size_t kAsteroidsBodies = 250;  ///< number of bodies of the published scene

/// How to simulate the scene `asteroids`. The caller must check the ranges (PhysicsSceneOptions).
struct AsteroidsOptions {
  std::size_t bodies = kAsteroidsBodies;
  std::uint64_t seed = 1;
  double settling_s = 300.0;  ///< simulated before the recording begins, s
  double seconds = 120.0;     ///< length of the recording, s
};

/// Simulates bodies that collide in a ball-shaped part of space: the scene of KinematicSoup's network
/// benchmark, which has published results for seven products (docs/benchmarks.md). The bodies are convex
/// hulls of different sizes. They fly straight and spin, collide with each other and with a resting sphere at
/// the centre, steer back when they leave the ball, and regain their own speed after collisions.
[[nodiscard]] PhysicsRecording record_asteroids(const AsteroidsOptions& options);

}  // namespace reckoner::scenario
