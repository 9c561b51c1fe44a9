// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Which scene of colliding bodies to simulate, and how long.
struct PhysicsSceneOptions {
  std::string_view scene = "asteroids";  ///< `asteroids` or `cubes`
  std::size_t bodies = 0;     ///< 0: as published, 250 or 901; otherwise 1 to 10,000 asteroids, 901 cubes
  std::uint64_t seed = 1;     ///< selects the start of the asteroids, or what the player of the cubes does
  double settling_s = 300.0;  ///< only asteroids: time to simulate before the recording begins, s; 0 to 3600
  double seconds = 0.0;  ///< length of the recording, s; 0: as published, 120 or 47.2 s; at least one sample,
                         ///< at most 3600 s
};

/// A simulated scene.
struct PhysicsRecording {
  Recording motion;  ///< 60 samples a second; the first is at 1/60 s
  /// Only cubes: whether a body touched the player's cube, directly or through a chain of other bodies. The
  /// value for sample k and body b is at [k * number of bodies + b]. Empty for asteroids.
  std::vector<bool> interacting;
};

/// Simulates a scene. Equal options give equal bits on one machine with one version of the physics engine.
/// Takes seconds. Only one thread of a process may call it at a time. Fails if an option is invalid, or in a
/// build without a physics engine (Bullet).
[[nodiscard]] Result<PhysicsRecording> record_physics_scene(const PhysicsSceneOptions& options);

/// True if this build has a physics engine.
[[nodiscard]] bool has_physics();

}  // namespace reckoner::scenario
