// SPDX-License-Identifier: MIT
// In place of physics_scenes.cpp in a build without Bullet.
#include "scenario/builtin/physics/physics_scenes.hpp"

#include <string>

namespace reckoner::scenario {

Result<Recording> record_physics_scene(std::string_view name, std::size_t, std::uint64_t) {
  return Error{"this build has no physics engine (Bullet) for the scenario " + std::string(name) +
               "; play a recording of it with --trace instead"};
}

Result<Recording> record_cubes_scene(std::uint64_t seed, std::vector<bool>&) {
  return record_physics_scene("cubes", 0, seed);
}

bool has_physics() {
  return false;
}

}  // namespace reckoner::scenario
