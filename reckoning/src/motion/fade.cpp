// SPDX-License-Identifier: MIT
#include <algorithm>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/walls.hpp>

namespace reckoner {
namespace {

// The progress of a fade some time after it began. Let v and a be the velocity and the acceleration when the
// fade began. Then the velocity is (v + a gained_s) rate, and the displacement is v time_s + a square_s2.
struct Fade {
  double gained_s;      // the time for which the full acceleration would give the same change of velocity
  double acceleration;  // remaining share of the acceleration
  double rate;          // remaining share of the velocity
  double rate_change;   // derivative of `rate`, 1/s
  double time_s;        // the time in which an unchanged velocity would cover the same distance
  double square_s2;
};

Fade fade_after(double since_s) {
  constexpr double kTa = kFadeAccelerationS;
  constexpr double kTv = kFadeVelocityS;
  if (since_s < kTa) {
    const double left = 1.0 - since_s / kTa;
    return {since_s * (1.0 + left) / 2.0, left, 1.0, 0.0, since_s, since_s * since_s * (2.0 + left) / 6.0};
  }
  const double u = std::min(1.0, (since_s - kTa) / kTv);
  const double slowing_s = kTv * u * (1.0 - u * u * (1.0 - 0.5 * u));
  return {0.5 * kTa,
          0.0,
          1.0 - u * u * (3.0 - 2.0 * u),
          -6.0 * u * (1.0 - u) / kTv,
          kTa + slowing_s,
          kTa * kTa / 3.0 + 0.5 * kTa * slowing_s};
}

// How far a motion is extrapolated back, s, some time before its time stamp.
struct Back {
  double time_s;
  double rate;         // remaining share of the velocity
  double rate_change;  // derivative of `rate`, 1/s
};

Back back_before(double before_s) {
  const double u = std::clamp((before_s - kExtrapolateBackS) / kFadeBackS, 0.0, 1.0);
  const double slowing_s = kFadeBackS * u * (1.0 - u * u * (1.0 - 0.5 * u));
  return {std::min(before_s, kExtrapolateBackS) + slowing_s, 1.0 - u * u * (3.0 - 2.0 * u),
          6.0 * u * (1.0 - u) / kFadeBackS};
}

bool is_far_before(const Motion& motion, double time_s) {
  return time_s < motion.time_s - kExtrapolateBackS;
}

// The state far before the motion's time stamp.
State state_far_before(const Motion& motion, double time_s) {
  const Back back = back_before(motion.time_s - time_s);
  State state = state_at(motion, motion.time_s - back.time_s);
  state.acceleration = glm::vec3{glm::dvec3{state.acceleration} * (back.rate * back.rate) +
                                 glm::dvec3{state.velocity} * back.rate_change};
  state.velocity = glm::vec3{glm::dvec3{state.velocity} * back.rate};
  state.angular_velocity = glm::vec3{glm::dvec3{state.angular_velocity} * back.rate};
  return state;
}

// The state on the course of the motion, on which the entity moves more and more slowly.
State slowed(const Motion& motion, double valid_until_s, const Fade& fade) {
  State state = state_at(motion, valid_until_s + fade.time_s);
  state.acceleration = glm::vec3{glm::dvec3{state.acceleration} * (fade.rate * fade.rate) +
                                 glm::dvec3{state.velocity} * fade.rate_change};
  state.velocity = glm::vec3{glm::dvec3{state.velocity} * fade.rate};
  state.angular_velocity = glm::vec3{glm::dvec3{state.angular_velocity} * fade.rate};
  return state;
}

}  // namespace

State faded_state(const Motion& motion, double valid_until_s, double time_s) {
  valid_until_s = std::max(valid_until_s, motion.time_s);
  if (is_far_before(motion, time_s)) return state_far_before(motion, time_s);
  if (time_s <= valid_until_s) return state_at(motion, time_s);
  const Fade fade = fade_after(time_s - valid_until_s);
  if (motion.route != nullptr) return slowed(motion, valid_until_s, fade);
  const State from = state_at(motion, valid_until_s);
  if (motion.never_reverses && is_braking(motion.state)) return slowed(motion, valid_until_s, fade);
  const glm::dvec3 velocity{from.velocity};
  const glm::dvec3 acceleration{from.acceleration};
  State state = extrapolate(from, fade.time_s);  // for the orientation
  state.position = from.position + velocity * fade.time_s + acceleration * fade.square_s2;
  const glm::dvec3 reached = velocity + acceleration * fade.gained_s;
  state.velocity = glm::vec3{reached * fade.rate};
  state.acceleration = glm::vec3{acceleration * (fade.acceleration * fade.rate) + reached * fade.rate_change};
  state.angular_velocity = glm::vec3{glm::dvec3{from.angular_velocity} * fade.rate};
  const Walls* const walls = walls_of(motion);
  return walls != nullptr ? stopped_by_walls(state, *walls, from.position) : state;
}

RouteState faded_route_state(const Motion& motion, double valid_until_s, double time_s) {
  valid_until_s = std::max(valid_until_s, motion.time_s);
  if (is_far_before(motion, time_s)) {
    const Back back = back_before(motion.time_s - time_s);
    RouteState along = motion.route->advanced_on_route(motion.along, -back.time_s);
    along.acceleration = along.acceleration * back.rate * back.rate + along.speed * back.rate_change;
    along.speed *= back.rate;
    return along;
  }
  if (time_s <= valid_until_s) return motion.route->advanced_on_route(motion.along, time_s - motion.time_s);
  const Fade fade = fade_after(time_s - valid_until_s);
  RouteState along =
      motion.route->advanced_on_route(motion.along, valid_until_s + fade.time_s - motion.time_s);
  along.acceleration = along.acceleration * fade.rate * fade.rate + along.speed * fade.rate_change;
  along.speed *= fade.rate;
  return along;
}

}  // namespace reckoner
