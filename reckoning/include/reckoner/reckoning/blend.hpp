// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// Converts a time span in frames, as used by games and by Caldwell's article, to seconds. `frame_rate_hz`
/// must be above 0.
[[nodiscard]] constexpr double frames_to_seconds(double frames, double frame_rate_hz) {
  return frames / frame_rate_hz;
}

/// The shape of a blend: how the offset between the shown pose and the new motion fades over u = 0..1,
///
///   e(u) = E0 f(u) + E1 T g(u)
///
/// E0 and E1 are the offsets of position and velocity at the start, T is the duration. A shape needs f(0) =
/// 1, f'(0) = 0, g(0) = 0 and g'(0) = 1; at u = 1, f, f', g and g' must be 0. Then the shown pose is
/// continuous in position and velocity. To add a shape, define one constant of this type. To compare it with
/// other shapes, add a row to the harness's table of ablations and run `reckoner-harness compare`.
struct BlendShape {
  /// The values of f and g at one u.
  struct Weights {
    double offset;  ///< f, or a derivative of f
    double rate;    ///< g, or a derivative of g
  };
  Weights (*value)(double u);   ///< f and g
  Weights (*first)(double u);   ///< their first derivatives
  Weights (*second)(double u);  ///< their second derivatives
  Weights steepest;             ///< upper bounds of |f'| and |g'| on 0..1
};

/// The cubic Hermite basis, the default shape: f = 1 - 3u^2 + 2u^3, g = u (1-u)^2.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& cubic_blend();

/// The quintic Hermite basis: f = 1 - 10u^3 + 15u^4 - 6u^5, g = u - 6u^3 + 8u^4 - 3u^5. The acceleration of
/// the offset is zero at both ends, so the shown acceleration has no steps. But the blend is steeper in the
/// middle.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& quintic_blend();

/// How a RemoteEntity blends onto new motions.
struct BlendPolicy {
  /// null: cubic_blend(), computed inline. Not owned; must outlive all blends with it.
  const BlendShape* shape = nullptr;
  /// The share of the blend time in which the orientation is blended, above 0 and at most 1. A correction of
  /// the position is visible by its acceleration, which moves everything that is drawn. A correction of the
  /// orientation may be faster. Measured: docs/TUNING.md.
  double turn_share = 2.0 / 3.0;
};

/// The curve that moves the shown pose onto a new motion within T seconds, written as an offset from the
/// motion. With the default shape:
///
///   shown(t) = motion(t) + e(t),   e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2,   u = (t - t0)/T
///
/// E0 and E1 are the differences in position and velocity between the shown pose and the motion at t0. The
/// shape brings both to zero at t0 + T, so the shown position and velocity are continuous for any new motion.
/// The orientation uses the same shape on the rotation vector of the offset, along the shorter rotation,
/// within T or within a share of T.
///
/// For quadratic motion the default curve is the cubic spline from the shown position and velocity to the
/// position and velocity of the motion T later.
///
/// A value; copy it freely. A default-constructed blend is over and shows the motion itself.
class RECKONER_RECKONING_API Blend {
 public:
  Blend() = default;

  /// Starts at `start_s` (s, shown time) from the pose `shown` that is drawn at that time, and ends on the
  /// motion. It uses position, velocity, orientation and angular velocity of `shown` and of
  /// `motion_at_start`, the new motion's state at `start_s`. The blend takes `duration_s` seconds; if this is
  /// 0 or less, it is already over. The orientation takes the share `turn_share` of that time, above 0 and at
  /// most 1.
  ///
  /// `shape` is not owned and must outlive the blend and all of its copies. Null means cubic_blend().
  Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
        double turn_share = 1.0, const BlendShape* shape = nullptr);

  /// The state to show at `time_s`. `motion` is the new motion's state at that time. Before the start the
  /// offset is constant; after the end the result is `motion` itself. The acceleration includes that of the
  /// offset.
  [[nodiscard]] State apply(const State& motion, double time_s) const;

  /// The offset that apply() adds to the motion at one instant.
  struct Offset {
    glm::dvec3 position;  ///< m
    glm::dvec3 rotation;  ///< rotation vector, rad, applied to the orientation
  };
  /// The offset at `time_s`. The blend must not be over() at that time.
  [[nodiscard]] Offset offset(double time_s) const;

  /// An upper bound for the speed that the blend adds to the motion at any time, m/s.
  [[nodiscard]] double top_speed_mps() const;

  /// When the blend began, s of shown time.
  [[nodiscard]] double start_s() const { return start_s_; }
  /// Duration, s.
  [[nodiscard]] double duration_s() const { return duration_s_; }
  /// True if the blend has ended by `time_s`.
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
  const BlendShape* shape_ = nullptr;
};

/// Limits a motion to the body's top speed (Motion::max_speed_mps) and returns the motion to extrapolate to
/// `time_s`. Until the body reaches its top speed, that is `motion`. After that, it is a motion straight
/// ahead at top speed.
///
/// `valid_until_s`: faded_state() fades the acceleration from this time on. If the body would reach its top
/// speed only later, its acceleration ends at `valid_until_s`. A motion on a route, a braking motion that
/// never reverses and a motion without top speed are returned unchanged.
[[nodiscard]] RECKONER_RECKONING_API Motion limited_to_top_speed(const Motion& motion, double valid_until_s,
                                                                 double time_s);

/// True if the motion certainly reaches neither its top speed nor the edge of its world within `span_s`
/// seconds. It may be false for a motion that stays within both.
[[nodiscard]] RECKONER_RECKONING_API bool stays_within_limits(const Motion& motion, double span_s);

/// True if a body on a cubic curve is never faster than `max_mps`, m/s. The body's velocity (the hodograph)
/// is a quadratic Bézier curve from `v0` to `v1`, with `middle` as second control point. It lies in the
/// convex hull of the three points. So the test halves the curve up to five times; if it is still undecided
/// then, the result is false.
[[nodiscard]] RECKONER_RECKONING_API bool never_faster(const glm::dvec3& v0, const glm::dvec3& middle,
                                                       const glm::dvec3& v1, double max_mps);

/// Shows a body that a blend would show faster than its top speed: the shown body chases the motion within
/// that top speed. In every step of kStepS the chase computes the velocity that would close the gap with the
/// time constant kTimeConstantS, limited to the top speed. The velocity then changes linearly to that value
/// until the end of the step. So the shown position is C1, and the speed never exceeds the larger of the
/// speeds at both ends of a step.
///
/// A value. Its result depends only on itself, the motion and the time.
struct RECKONER_RECKONING_API Chase {
  static constexpr double kStepS = 1.0 / 32.0;   ///< first step, s
  static constexpr double kTimeConstantS = 0.1;  ///< time constant, s

  /// When the chase begins, s of shown time; infinity: no chase.
  double start_s = std::numeric_limits<double>::infinity();
  glm::dvec3 position{0.0};    ///< m, shown at the start
  glm::dvec3 velocity{0.0};    ///< m/s, shown at the start
  std::uint8_t teleports = 0;  ///< teleport counter of the chased motion; the chase ends at the next teleport
  FrameId frame{};             ///< frame of the chased motion; the chase ends when the frame changes

  /// True if the chase applies at `time_s`, when `motion` is shown.
  [[nodiscard]] bool holds(const Motion& motion, double time_s) const {
    return time_s >= start_s && motion.route == nullptr && motion.teleports == teleports &&
           motion.frame == frame;
  }

  /// The state of a chase at one time.
  struct Point {
    glm::dvec3 position;      ///< m
    glm::dvec3 velocity;      ///< m/s
    glm::dvec3 acceleration;  ///< m/s^2
  };

  /// The velocity, m/s, at the end of one step of `step_s` seconds towards a body, at most `max_mps`.
  /// `target` is the body's state at the end of the step, `from` the chase's state at its beginning.
  [[nodiscard]] static glm::dvec3 velocity_towards(const State& target, const Point& from, double step_s,
                                                   double max_mps);

  /// The state of the chase at `time_s`. `target(t)` returns the chased body's State at time t. `max_mps`:
  /// top speed, m/s.
  template <class Target>
  [[nodiscard]] Point at(double time_s, double max_mps, Target target) const;
};

template <class Target>
Chase::Point Chase::at(double time_s, double max_mps, Target target) const {
  // A target that is not reached for long moves steadily, because no updates arrive. So the steps can grow,
  // and a chase of one hour has only a few hundred steps.
  constexpr double kGrowth = 1.0 / 64.0;
  Point place{position, velocity, glm::dvec3{0.0}};
  double now_s = start_s;
  for (double step_s = kStepS; now_s < time_s; step_s += kGrowth * step_s) {
    const glm::dvec3 next = velocity_towards(target(now_s + step_s), place, step_s, max_mps);
    place.acceleration = (next - place.velocity) / step_s;
    const double dt_s = time_s < now_s + step_s ? time_s - now_s : step_s;
    place.position += (place.velocity + place.acceleration * (0.5 * dt_s)) * dt_s;
    place.velocity = dt_s < step_s ? place.velocity + place.acceleration * dt_s : next;
    now_s += dt_s < step_s ? time_s - now_s : step_s;
    if (dt_s < step_s) break;
  }
  return place;
}

/// How long the acceleration of a motion takes to fade after the motion is no longer known to hold, s.
inline constexpr double kFadeAccelerationS = 0.25;
/// How long the velocity takes to fade after the acceleration has faded, s.
inline constexpr double kFadeVelocityS = 0.75;

/// Value of `valid_until_s` for a motion that holds without a time limit.
inline constexpr double kAlwaysValid = std::numeric_limits<double>::infinity();

/// The motion's state at `time_s`, if the motion is known to hold only until `valid_until_s` (s).
///
/// Until then the result is state_at(). From then on the acceleration fades linearly within
/// kFadeAccelerationS. After that the velocity fades to zero by the cubic 1 - 3u^2 + 2u^3 within
/// kFadeVelocityS. The angular velocity fades together with the velocity. Position, velocity and acceleration
/// are continuous.
///
/// The body moves at most |v| (Ta + Tv/2) + |a| (Ta^2/3 + Ta Tv/4) further. v and a are velocity and
/// acceleration at `valid_until_s`; Ta and Tv are the two fade times. An entity on a route, or one that
/// brakes by itself (is_braking()), stays on its course and only slows down. The fade never begins before the
/// motion's own time stamp.
[[nodiscard]] RECKONER_RECKONING_API State faded_state(const Motion& motion, double valid_until_s,
                                                       double time_s);

/// Like faded_state(), but returns distance, speed and acceleration along the route. The motion must be on a
/// route.
[[nodiscard]] RECKONER_RECKONING_API RouteState faded_route_state(const Motion& motion, double valid_until_s,
                                                                  double time_s);

/// Blends along a route, as Blend does in space. The cubic offset moves the shown distance and speed onto
/// those of a new motion on the same route within T seconds, so a correction never leaves the curve. The
/// shown distance and speed are continuous, and so are position and velocity.
///
/// A value; copy it freely. A default-constructed blend is over and shows the motion itself.
class RECKONER_RECKONING_API RouteBlend {
 public:
  RouteBlend() = default;

  /// Starts at `start_s` (s, shown time) from `shown` and ends on the motion that is at `motion_at_start` at
  /// that time. On a closed or ping-pong route it takes the shorter way. Both states are those that
  /// Route::advanced_on_route() returns. The blend takes `duration_s` seconds; if this is 0 or less, it is
  /// already over.
  RouteBlend(const Route& route, const RouteState& shown, const RouteState& motion_at_start, double start_s,
             double duration_s, const BlendShape* shape = nullptr);

  /// The route state to show at `time_s`. `motion` is the new motion's route state at that time.
  [[nodiscard]] RouteState apply(const RouteState& motion, double time_s) const;

  /// When the blend ends, s of shown time.
  [[nodiscard]] double end_s() const { return start_s_ + duration_s_; }
  /// True if the blend has ended by `time_s`.
  [[nodiscard]] bool over(double time_s) const { return !(time_s < end_s()) || duration_s_ <= 0.0; }

 private:
  double start_s_ = 0.0;
  double duration_s_ = 0.0;
  double offset_ = 0.0;       // E0, m along the route
  double offset_rate_ = 0.0;  // E1, m/s along the route
  const BlendShape* shape_ = nullptr;
};

}  // namespace reckoner
