// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/wall_contact.hpp"

#include <cassert>

#include <reckoner/reckoning/floor.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

State without_acceleration(State state) {
  state.acceleration = glm::vec3{0.0f};
  return state;
}

// The state of free motion, without regard to the floor.
State free_state_at(const Motion& motion, double dt_s) {
  // The acceleration of a motion that bends describes the curve that ends at this motion. After a short gap
  // it is large, and it is useless for extrapolation.
  const Walls* const walls = walls_of(motion);
  if (motion.transition.bends) {
    const State start = without_acceleration(motion.state);
    const State state = extrapolate(start, dt_s);
    return walls != nullptr ? extrapolated_along_walls(start, state, dt_s, false, *walls) : state;
  }
  const State state =
      motion.never_reverses ? extrapolate_braking(motion.state, dt_s) : extrapolate(motion.state, dt_s);
  if (walls == nullptr) return state;
  return extrapolated_along_walls(motion.state, state, dt_s, motion.never_reverses, *walls);
}

}  // namespace

State state_at(const Motion& motion, double time_s) {
  const double dt_s = time_s - motion.time_s;
  if (motion.route == nullptr) {
    const State state = free_state_at(motion, dt_s);
    const Floor* floor = floor_of(motion);
    return floor != nullptr ? above_floor(state, *floor) : state;
  }
  return state_along(motion, motion.route->advanced_on_route(motion.along, dt_s));
}

State state_along(const Motion& motion, const RouteState& along) {
  assert(motion.route != nullptr);
  State state = motion.route->state_at(along, 0.0);
  if (!motion.faces_route) {
    state.orientation = motion.state.orientation;
    state.angular_velocity = glm::vec3{0.0f};
  }
  return state;
}

}  // namespace reckoner
