// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The free motion as a body with its top speed (Motion::max_speed_mps) carries it on: state_at() until it
/// has come to that speed, and from then on straight ahead at it. `holds_until_s`: its acceleration is gone
/// at the latest when it comes to that speed by faded_state(). On a route, or without a top speed: the motion
/// itself. What it returns is the motion to carry on at `time_s`.
[[nodiscard]] RECKONER_RECKONING_API Motion kept_to_top_speed(const Motion& motion, double holds_until_s,
                                                              double time_s);

/// True if nothing leads the motion to its top speed or out of its world within `span_s`.
[[nodiscard]] RECKONER_RECKONING_API bool keeps_to_limits(const Motion& motion, double span_s);

/// True if a body that moves from velocity `v0` to `v1`, by a cubic whose hodograph has `middle` for its
/// second control point, is never faster than `most_mps`: the hodograph lies in the hull of the three.
[[nodiscard]] RECKONER_RECKONING_API bool never_faster(const glm::dvec3& v0, const glm::dvec3& middle,
                                                       const glm::dvec3& v1, double most_mps);

/// What is shown of a body that cannot get to where it should be as fast as it would be blended there: it
/// goes after it, no faster than it can. Every kStepS it takes the velocity that would bring it onto the
/// motion with the time constant kCloseS, or as much of it as its top speed allows, and changes to it evenly
/// until the next step; so that what is shown is C1, and its speed lies between those of two steps.
///
/// A value; a pure function of it, the motion and time.
struct RECKONER_RECKONING_API Chase {
  static constexpr double kStepS = 1.0 / 32.0;  ///< of a step, s
  static constexpr double kCloseS = 0.1;        ///< time constant, s

  double start_s = std::numeric_limits<double>::infinity();  ///< begins then; as it is, never
  glm::dvec3 position{0.0};                                  ///< at the start, m
  glm::dvec3 velocity{0.0};                                  ///< m/s
  std::uint8_t teleports = 0;                                ///< goes on on this side of a teleport only,
  FrameId frame{};                                           ///< and in this frame

  /// True if it is under way at `time_s`, which is shown from `motion`.
  [[nodiscard]] bool holds(const Motion& motion, double time_s) const {
    return time_s >= start_s && motion.route == nullptr && motion.teleports == teleports &&
           motion.frame == frame;
  }

  /// Where it has come to.
  struct Place {
    glm::dvec3 position;      ///< m
    glm::dvec3 velocity;      ///< m/s
    glm::dvec3 acceleration;  ///< m/s^2
  };

  /// One step towards a body that will be at `target` at its end, no faster than `most_mps`: the velocity to
  /// have by then. `from` is where it begins.
  [[nodiscard]] static glm::dvec3 velocity_towards(const State& target, const Place& from, double step_s,
                                                   double most_mps);

  /// At `time_s`, after a `target(time_s)`, a State that it goes after.
  template <class Target>
  [[nodiscard]] Place at(double time_s, double most_mps, Target target) const;
};

template <class Target>
Chase::Place Chase::at(double time_s, double most_mps, Target target) const {
  // What is not caught up with for long moves steadily, as nothing new is heard of it: the steps get longer,
  // so that an hour has no more than a few hundred.
  constexpr double kGrowth = 1.0 / 64.0;
  Place place{position, velocity, glm::dvec3{0.0}};
  double now_s = start_s;
  for (double step_s = kStepS; now_s < time_s; step_s += kGrowth * step_s) {
    const glm::dvec3 next = velocity_towards(target(now_s + step_s), place, step_s, most_mps);
    place.acceleration = (next - place.velocity) / step_s;
    const double dt_s = time_s < now_s + step_s ? time_s - now_s : step_s;
    place.position += (place.velocity + place.acceleration * (0.5 * dt_s)) * dt_s;
    place.velocity = dt_s < step_s ? place.velocity + place.acceleration * dt_s : next;
    now_s += dt_s < step_s ? time_s - now_s : step_s;
    if (dt_s < step_s) break;
  }
  return place;
}

}  // namespace reckoner
