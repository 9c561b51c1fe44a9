// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/physics_scenes.hpp"

#include "scenario/builtin/physics/asteroids.hpp"
#include "scenario/builtin/physics/cubes.hpp"

#include <cassert>
#include <string>
#include <utility>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kMaxAsteroids = 10'000;

}  // namespace

Result<Recording> record_physics_scene(std::string_view name, std::size_t bodies, std::uint64_t seed) {
  if (name == "asteroids") {
    if (bodies > kMaxAsteroids) {
      return Error{"the scenario asteroids has at most " + std::to_string(kMaxAsteroids) + " bodies"};
    }
    AsteroidsOptions options{.seed = seed};
    if (bodies > 0) options.bodies = bodies;
    return record_asteroids(options);
  }
  assert(name == "cubes");
  if (bodies != 0 && bodies != kCubesBodies) {
    return Error{"the scenario cubes always has " + std::to_string(kCubesBodies) + " bodies"};
  }
  return std::move(record_cubes({.seed = seed}).motion);
}

Result<Recording> record_cubes_scene(std::uint64_t seed, std::vector<bool>& interacting) {
  CubesRecording recording = record_cubes({.seed = seed});
  interacting = std::move(recording.interacting);
  return std::move(recording.motion);
}

bool has_physics() {
  return true;
}

}  // namespace reckoner::scenario
