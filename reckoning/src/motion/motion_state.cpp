// SPDX-License-Identifier: MIT
#include <cassert>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {
namespace {

State without_acceleration(State state) {
  state.acceleration = glm::vec3{0.0f};
  return state;
}

}  // namespace

State state_at(const Motion& motion, double time_s) {
  const double dt_s = time_s - motion.time_s;
  if (motion.route == nullptr) {
    // The acceleration is about the way here: over short gaps it is large, and no way to go on.
    if (motion.bends) return extrapolate(without_acceleration(motion.state), dt_s);
    return motion.never_reverses ? extrapolate_braking(motion.state, dt_s) : extrapolate(motion.state, dt_s);
  }
  return state_along(motion, motion.route->carried(motion.along, dt_s));
}

State state_along(const Motion& motion, const RouteState& along) {
  assert(motion.route != nullptr);
  State state = motion.route->state_at(along, 0.0);
  if (!motion.faces_along) {
    state.orientation = motion.state.orientation;
    state.angular_velocity = glm::vec3{0.0f};
  }
  return state;
}

}  // namespace reckoner
