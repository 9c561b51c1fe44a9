// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// A time span given in frames, as games and Caldwell's article have it: `frames` at `frame_rate_hz`.
[[nodiscard]] constexpr double frames_to_seconds(double frames, double frame_rate_hz) {
  return frames / frame_rate_hz;
}

/// The curve that takes the shown pose onto a new motion in T seconds, in offset form:
///
///   shown(t) = motion(t) + e(t),   e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2,   u = (t - t0)/T
///
/// E0 and E1 are what the shown position and velocity are off the motion at t0; the cubic brings both to zero
/// at t0 + T, so that the shown position and velocity are continuous whatever the new motion is. The
/// orientation does the same on the rotation vector of the offset, the short way round, in the same T or one
/// of its own. For quadratic motion
/// this is the cubic spline between (shown position, velocity) and the motion T later (DESIGN.md, Receiver).
///
/// A value: copy it freely. A default-made one is over, and shows the motion itself.
class RECKONER_RECKONING_API Blend {
 public:
  Blend() = default;

  /// From `shown` (position, velocity, orientation and angular velocity are used), which is what is drawn at
  /// `start_s`, onto `motion`. `duration_s` <= 0 gives a blend that is already over. The orientation takes
  /// `turn_share` of that, above 0 and at most 1.
  Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
        double turn_share = 1.0);

  /// What to show at `time_s`, where `motion` is the new motion's state at that time. Before the start the
  /// offset stands still; after the end the motion is shown as it is. The acceleration includes the offset's.
  [[nodiscard]] State apply(const State& motion, double time_s) const;

  /// What apply() adds to the motion at an instant.
  struct Offset {
    glm::dvec3 position;  ///< m
    glm::dvec3 rotation;  ///< rotation vector that turns the orientation, rad
  };
  /// At `time_s`, while the blend is not over().
  [[nodiscard]] Offset offset(double time_s) const;

  /// How much faster than the motion it is at any time makes what is shown, m/s: at most so much.
  [[nodiscard]] double top_speed_mps() const;

  /// When it began, s of the time that is shown.
  [[nodiscard]] double start_s() const { return start_s_; }
  /// How long it lasts, s.
  [[nodiscard]] double duration_s() const { return duration_s_; }
  /// Whether nothing is left of it at `time_s`.
  [[nodiscard]] bool over(double time_s) const {
    return !(time_s < start_s_ + duration_s_) || duration_s_ <= 0.0;
  }

 private:
  double start_s_ = 0.0;
  double duration_s_ = 0.0;
  double turn_duration_s_ = 0.0;
  glm::dvec3 offset_{0.0};         // E0, m
  glm::dvec3 offset_rate_{0.0};    // E1, m/s
  glm::dvec3 rotation_{0.0};       // E0 of the rotation vector, rad
  glm::dvec3 rotation_rate_{0.0};  // E1 of the rotation vector, rad/s
};

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

/// How long the acceleration, and after it the velocity, of a motion that nobody vouches for any more takes
/// to fade, s.
inline constexpr double kFadeAccelerationS = 0.25;
inline constexpr double kFadeVelocityS = 0.75;

/// A motion of which it is known that it always holds.
inline constexpr double kHoldsForever = std::numeric_limits<double>::infinity();

/// The motion's state at `time_s` if it is known to hold until `holds_until_s` only. Until then state_at();
/// from then on its acceleration fades linearly in kFadeAccelerationS, then its velocity by the cubic
/// 1 - 3u^2 + 2u^3 in kFadeVelocityS, to rest; angular velocity goes with velocity. Continuous in position,
/// velocity and acceleration. It goes no further than |v| (Ta + Tv/2) + |a| (Ta^2/3 + Ta Tv/4), v and a being
/// those at `holds_until_s`. What moves on a route or brakes by itself (is_braking()) stays on its course
/// and only gets slower on it. Not before the motion's own time stamp.
[[nodiscard]] RECKONER_RECKONING_API State faded_state(const Motion& motion, double holds_until_s,
                                                       double time_s);

/// The same for a motion on a route, along it.
[[nodiscard]] RECKONER_RECKONING_API RouteState faded_along(const Motion& motion, double holds_until_s,
                                                            double time_s);

/// What Blend does in space, along a route: the cubic in offset form that takes the shown distance and speed
/// onto those of a new motion on the same route in T seconds. So a correction never leads off the curve. What
/// is shown is continuous in distance and speed, and so in position and velocity.
///
/// A value: copy it freely. A default-made one is over, and shows the motion itself.
class RECKONER_RECKONING_API RouteBlend {
 public:
  RouteBlend() = default;

  /// From `shown` at `start_s`, the short way round, onto a motion that is at `motion_at_start` then; both as
  /// Route::carried() gives them. `duration_s` <= 0 gives a blend that is already over.
  RouteBlend(const Route& route, const RouteState& shown, const RouteState& motion_at_start, double start_s,
             double duration_s);

  /// What to show at `time_s`, where `motion` is the new motion's state at that time.
  [[nodiscard]] RouteState apply(const RouteState& motion, double time_s) const;

  /// When nothing is left of it, s of the time that is shown.
  [[nodiscard]] double end_s() const { return start_s_ + duration_s_; }
  /// Whether nothing is left of it at `time_s`.
  [[nodiscard]] bool over(double time_s) const { return !(time_s < end_s()) || duration_s_ <= 0.0; }

 private:
  double start_s_ = 0.0;
  double duration_s_ = 0.0;
  double offset_ = 0.0;       // E0, m along the route
  double offset_rate_ = 0.0;  // E1, m/s along the route
};

}  // namespace reckoner
