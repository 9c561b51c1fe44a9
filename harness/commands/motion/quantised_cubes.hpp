// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/physics/physics_scenes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// One cube in one picture, in the steps of Fiedler's compression challenge.
struct QuantisedCube {
  std::int32_t largest = 0;  ///< index of the largest component of the quaternion: x 0, y 1, z 2, w 3
  std::int32_t a = 0, b = 0,
               c = 0;  ///< the other components in this order: 0 to 511 for -1/sqrt(2) to 1/sqrt(2)
  std::int32_t x = 0, y = 0, z = 0;  ///< 1/512 m
  std::int32_t interacting = 0;      ///< 1 if the cube touches the player's, directly or through other cubes
  bool operator==(const QuantisedCube&) const = default;
};

/// Rounds a pose to the steps of the challenge. `orientation` must be a unit quaternion.
[[nodiscard]] QuantisedCube quantise(const glm::dvec3& position, const glm::dquat& orientation,
                                     bool interacting);

/// Quantises a recording of the scene `cubes`. The result has the pictures one after another, each with all
/// bodies in the order of the recording.
[[nodiscard]] std::vector<QuantisedCube> quantise(const scenario::PhysicsRecording& recording);

/// How much cubes change within six pictures. A cube counts in every picture in which its quantised pose
/// differs from its quantised pose six pictures before. All shares are shares of the cubes that count, in
/// percent.
struct CubeChanges {
  static constexpr std::array<std::int32_t, 3> kSteps{15, 63, 255};
  std::uint64_t changed = 0;  ///< number of cubes that count, summed over all pictures
  /// x changes by at most kSteps[i] steps, or y does: the mean of both shares.
  std::array<double, 3> within_xy_percent{};
  std::array<double, 3> within_z_percent{};  ///< z changes by at most kSteps[i] steps
  double same_largest_percent = 0.0;         ///< QuantisedCube::largest stays the same
};

/// Counts changes in pictures of `cubes` cubes each. All zero if nothing changes.
[[nodiscard]] CubeChanges changes_of(std::span<const QuantisedCube> frames, std::size_t cubes);

/// Writes eight little-endian 32-bit integers for each cube, in the order of the members of QuantisedCube.
/// Fails if the file cannot be written.
[[nodiscard]] std::optional<Error> write_quantised_cubes(const std::string& path,
                                                         std::span<const QuantisedCube> frames);

}  // namespace reckoner::harness
