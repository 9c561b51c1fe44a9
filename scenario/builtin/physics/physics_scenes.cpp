// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/physics_scenes.hpp"

#include "scenario/builtin/physics/asteroids.hpp"
#include "scenario/builtin/physics/cubes.hpp"
#include "scenario/trace/csv.hpp"

#include <string>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kMaxAsteroids = 10'000;
constexpr double kMaxSeconds = 3600.0;
constexpr double kAsteroidsS = 120.0;
constexpr double kCubesS = 47.2;

bool is_length(double seconds) {
  return seconds >= 0.0 && seconds <= kMaxSeconds;  // false for NaN
}

}  // namespace

Result<PhysicsRecording> record_physics_scene(const PhysicsSceneOptions& options) {
  if (!is_length(options.seconds) || !is_length(options.settling_s))
    return Error{"the lengths of a scene and of its settling must be from 0 s to 3600 s"};
  if (options.scene == "asteroids") {
    if (options.bodies > kMaxAsteroids)
      return Error{"the scenario asteroids has at most " + std::to_string(kMaxAsteroids) + " bodies"};
    return record_asteroids({.bodies = options.bodies > 0 ? options.bodies : kAsteroidsBodies,
                             .seed = options.seed,
                             .settling_s = options.settling_s,
                             .seconds = options.seconds > 0.0 ? options.seconds : kAsteroidsS});
  }
  if (options.scene == "cubes") {
    if (options.bodies != 0 && options.bodies != kCubesBodies)
      return Error{"the scenario cubes always has " + std::to_string(kCubesBodies) + " bodies"};
    return record_cubes({.seed = options.seed, .seconds = options.seconds > 0.0 ? options.seconds : kCubesS});
  }
  return Error{"expected a scene (asteroids, cubes), found " + shown(options.scene)};
}

bool has_physics() {
  return true;
}

}  // namespace reckoner::scenario
