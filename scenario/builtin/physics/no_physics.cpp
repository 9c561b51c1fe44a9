// SPDX-License-Identifier: MIT
// In place of the other sources of this folder in a build without Bullet.
#include "scenario/builtin/physics/physics_scenes.hpp"

#include <string>

namespace reckoner::scenario {

Result<PhysicsRecording> record_physics_scene(const PhysicsSceneOptions& options) {
  return Error{"the scenario " + std::string(options.scene) +
               " needs the physics engine Bullet, and this program was built without it; use --trace with a "
               "recording that reckoner-harness record made elsewhere"};
}

bool has_physics() {
  return false;
}

}  // namespace reckoner::scenario
