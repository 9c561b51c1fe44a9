// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/physics/physics_scenes.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner::scenario {

inline constexpr std::size_t kCubesBodies = 901;  ///< the player's cube and 900 small ones

/// How to simulate the scene `cubes`. The caller must check the ranges (PhysicsSceneOptions).
struct CubesOptions {
  std::uint64_t seed = 1;  ///< selects the script of the player's phases
  double seconds = 47.2;   ///< length of the recording, s
};

/// Simulates a player's cube that rolls through 900 small cubes and attracts them: a scene like that of
/// Fiedler's compression challenge, whose data set is lost (docs/benchmarks.md). What the player does changes
/// every few seconds. Entity 0 is the player's cube.
[[nodiscard]] PhysicsRecording record_cubes(const CubesOptions& options);

}  // namespace reckoner::scenario
