// SPDX-License-Identifier: MIT
#pragma once

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/reckoning/walls.hpp>

namespace reckoner {

/// The state of a body `dt_s` seconds after `start`, with walls. `free` is the state without walls, from
/// extrapolate() or, if `brakes`, from extrapolate_braking(). Where the body reaches a box, it continues
/// without the velocity and the acceleration towards the box. So the position is continuous in time, also
/// where the body leaves the box.
[[nodiscard]] RECKONER_RECKONING_API State extrapolated_along_walls(const State& start, const State& free,
                                                                    double dt_s, bool brakes,
                                                                    const Walls& walls);

/// Moves a blended state out of the boxes. `base` is the position of the motion onto which it is blended: the
/// state stays on that side of a box. It is moved as little as possible, so a state that enters a box
/// continuously does not jump. `crosses`: the blend began behind a wall. The state then passes through it.
[[nodiscard]] RECKONER_RECKONING_API State blended_along_walls(const State& state, const Walls& walls,
                                                               const glm::dvec3& base, bool crosses);

/// True if blended_along_walls() moves this state clearly. A blend that begins with such a state must cross
/// the wall.
[[nodiscard]] RECKONER_RECKONING_API bool is_behind_wall(const State& state, const Walls& walls,
                                                         const glm::dvec3& base);

}  // namespace reckoner
