// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/physics/physics_world.hpp"
#include "scenario/trace/recording.hpp"

#include <cmath>
#include <cstddef>

namespace reckoner::scenario {

/// Appends the pose of body i of the world to entity i of the recording. Rounds positions to 1e-6 m and the
/// components of quaternions to 1e-7. The simulation computes in single precision, which is hardly finer, and
/// rounded numbers make trace files short.
inline void append_samples(const PhysicsWorld& world, double time_s, Recording& recording) {
  const auto rounded = [](double value, double steps) { return std::round(value * steps) / steps; };
  for (std::size_t i = 0; i < recording.entities.size(); ++i) {
    const Pose pose = world.pose(i);
    const glm::dvec3& at = pose.position;
    const glm::dquat q(pose.orientation);
    recording.entities[i].samples.push_back(
        {time_s,
         {rounded(at.x, 1e6), rounded(at.y, 1e6), rounded(at.z, 1e6)},
         {rounded(q.w, 1e7), rounded(q.x, 1e7), rounded(q.y, 1e7), rounded(q.z, 1e7)}});
  }
}

}  // namespace reckoner::scenario
