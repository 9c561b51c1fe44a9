// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reckoner::scenario {

inline constexpr std::size_t kCubesBodies = 901;  ///< the player's cube and 900 small ones

/// How to record the scene `cubes`.
struct CubesOptions {
  std::uint64_t seed = 1;  ///< selects the script of the player's phases
  double seconds = 47.2;   ///< length of the recording, s
};

/// A recording of the cubes, and what published coders want to know besides.
struct CubesRecording {
  Recording motion;  ///< 901 bodies, 60 samples per second from t = 1/60 s on; the player's cube is the first
  /// Whether each body touched the player's cube, directly or over a chain of other bodies; for sample k and
  /// body b at [k * kCubesBodies + b].
  std::vector<bool> interacting;
};

/// Records a player's cube that rolls, pushes and pulls its way through 900 small cubes at rest: a scene like
/// that of Fiedler's compression challenge (2015), whose data set is lost. Gravity is 20 m/s^2. The player's
/// phases change every few seconds.
[[nodiscard]] CubesRecording record_cubes(const CubesOptions& options);

}  // namespace reckoner::scenario
