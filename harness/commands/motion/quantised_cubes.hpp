// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// One cube in one frame, in the steps of Fiedler's compression challenge (2015).
struct QuantisedCube {
  std::int32_t largest = 0;          ///< index of the largest component of the quaternion: x 0, y 1, z 2, w 3
  std::int32_t a = 0, b = 0, c = 0;  ///< the other components in this order, 0 to 511 for +-1/sqrt(2)
  std::int32_t x = 0, y = 0, z = 0;  ///< 1/512 m
  std::int32_t interacting = 0;      ///< 1 if the cube touches the player's, directly or over other cubes
};

[[nodiscard]] QuantisedCube quantise(const Pose& pose, bool interacting);

/// Simulates the scenario `cubes` and writes its frames one after another, each with eight little-endian
/// 32-bit integers for every cube, in the order of QuantisedCube. Fails in a build without a physics engine,
/// or if the file cannot be written.
[[nodiscard]] std::optional<Error> write_quantised_cubes(const std::string& path, std::uint64_t seed);

}  // namespace reckoner::harness
