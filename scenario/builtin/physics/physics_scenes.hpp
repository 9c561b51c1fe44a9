// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Simulates a scene of rigid bodies by its name, `asteroids` or `cubes`, and returns its motion. `bodies` 0
/// selects the number of bodies of the published scene; the scene `cubes` has no other. Takes seconds. Fails
/// if the number is impossible, or if this build has no physics engine (Bullet).
[[nodiscard]] Result<Recording> record_physics_scene(std::string_view name, std::size_t bodies,
                                                     std::uint64_t seed);

/// The scene `cubes`, and whether each body touched the player's cube in each sample (CubesRecording).
[[nodiscard]] Result<Recording> record_cubes_scene(std::uint64_t seed, std::vector<bool>& interacting);

/// True if this build has a physics engine.
[[nodiscard]] bool has_physics();

}  // namespace reckoner::scenario
