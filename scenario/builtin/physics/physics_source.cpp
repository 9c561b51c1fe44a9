// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/physics/physics_scenes.hpp"
#include "scenario/trace/trace.hpp"

namespace reckoner::scenario {

Result<std::unique_ptr<Source>> make_physics_scene(std::string_view name, std::size_t count,
                                                   std::uint64_t seed) {
  Result<PhysicsRecording> recording = record_physics_scene({.scene = name, .bodies = count, .seed = seed});
  if (!recording) return Error{recording.error()};
  return play_recording(std::move(recording->motion), std::string(name), {.timeline = Timeline::together});
}

}  // namespace reckoner::scenario
