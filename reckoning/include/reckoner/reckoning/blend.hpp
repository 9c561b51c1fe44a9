// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// Converts a time span in frames to seconds. Games often give time spans in frames, and so does the article
/// of N. Caldwell ("Defeating Lag with Cubic Splines", GameDev.net, 2000). `frame_rate_hz` must be above 0.
[[nodiscard]] constexpr double frames_to_seconds(double frames, double frame_rate_hz) {
  return frames / frame_rate_hz;
}

/// The shape of a blend: how the offset e between the shown pose and the new motion fades to zero while u
/// rises from 0 to 1:
///
///   e(u) = E0 f(u) + E1 T g(u)
///
/// E0 is the offset of the position at the start, E1 is the offset of the velocity at the start, and T is the
/// duration. A shape needs f(0) = 1, f'(0) = 0, g(0) = 0 and g'(0) = 1; at u = 1, f, f', g and g' must be 0.
/// Then the shown pose is continuous in position and velocity. To add a shape, define one constant of this
/// type. To compare it with other shapes, add a row to the harness's table of ablations and run
/// `reckoner-harness compare`.
struct BlendShape {
  /// The values of f and g at one u.
  struct Weights {
    double offset;  ///< f, or a derivative of f
    double rate;    ///< g, or a derivative of g
  };
  Weights (*value)(double u);   ///< f and g
  Weights (*first)(double u);   ///< their first derivatives
  Weights (*second)(double u);  ///< their second derivatives
  Weights steepest;             ///< upper bounds of |f'| and |g'| for u from 0 to 1
};

/// The cubic Hermite basis, the default shape: f = 1 - 3u^2 + 2u^3, g = u (1-u)^2.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& cubic_blend();

/// The quintic Hermite basis: f = 1 - 10u^3 + 15u^4 - 6u^5, g = u - 6u^3 + 8u^4 - 3u^5. The acceleration of
/// the offset is zero at both ends, so the shown acceleration does not jump. The price is a steeper blend in
/// the middle.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& quintic_blend();

/// Like a critically damped spring, but over at u = 1: f = (1 + 4u) (1-u)^4, g = u (1-u)^4. The blend is fast
/// at the start and slow at the end, where the acceleration of the offset is zero. For about the same excess
/// acceleration as with cubic_blend(), T must be about 1.45 times as long; the error is then a little smaller
/// (docs/TUNING.md).
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& damped_blend();

/// The shape of catch-ups (BlendTime): the offset shrinks with a constant speed, which it reaches within the
/// first quarter of the time and leaves within the last quarter. So its largest speed is 4/3 of its mean
/// speed.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& steady_blend();

/// Like steady_blend(), but with shorter ramps at both ends: the largest speed is 1.09 of the mean speed.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& brisk_blend();

/// The longest time that a catch-up takes, s. It leaves room for one picture in the half second that
/// docs/connections.md promises.
inline constexpr double kLongestCatchUpS = 0.45;

/// How long a correction takes.
struct BlendTime {
  double blend_s = 0.0;  ///< duration of an ordinary blend, s; 0: the pose jumps
  /// How long the shown pose has lacked newer motions or confirmations, or by how much shown time has jumped,
  /// s. If it is longer than `blend_s`, the entity catches up: it covers the distance within this time, but
  /// at most within kLongestCatchUpS. Other corrections do not change that time. If the entity would have to
  /// be faster than jump_speed_mps(), the pose jumps instead.
  double behind_s = 0.0;
  /// True after a stall: an ordinary blend becomes a catch-up if it would take longer than kLongestCatchUpS
  /// at the top speed, or if it would be faster than jump_speed_mps().
  bool hurries = false;

  /// An ordinary blend, and perhaps a catch-up. Not explicit: most blends are ordinary ones, and their
  /// duration alone says all.
  constexpr BlendTime(double blend, double behind = 0.0)  // NOLINT(google-explicit-constructor)
      : blend_s(blend), behind_s(behind) {}
};

/// The speed above which a catch-up is a jump, m/s: three times the usual speed of the entity's archetype.
/// The usual speed is the top speed of `motion`, but at most 30 m/s, because many games never set the top
/// speed. It is at least the speed with which the entity moves, `moves_mps`, m/s.
[[nodiscard]] RECKONER_RECKONING_API double jump_speed_mps(const Motion& motion, double moves_mps);

/// How a RemoteEntity blends onto new motions.
struct BlendPolicy {
  /// The shape of the blends. Null means cubic_blend(), which is then computed inline. The policy does not
  /// own the shape. The shape must outlive all blends that use it.
  const BlendShape* shape = nullptr;
  /// The share of the blend time in which the orientation is blended, above 0 and at most 1. Viewers notice
  /// the acceleration of a correction of the position, because the whole entity moves. A correction of the
  /// orientation may be faster. The measurements are in docs/TUNING.md.
  double turn_share = 2.0 / 3.0;
};

/// Moves the shown pose onto a new motion within T seconds. The shown curve is the motion plus an offset e.
/// With the default shape:
///
///   shown(t) = motion(t) + e(t),   e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2,   u = (t - t0)/T
///
/// E0 and E1 are the differences in position and velocity between the shown pose and the motion at t0. The
/// shape brings both offsets to zero at t0 + T, so the shown position and velocity are continuous for any new
/// motion. For the orientation, the offset is the rotation vector of the shorter rotation between the two
/// orientations. The same shape brings it to zero within T or within a share of T.
///
/// For quadratic motion the default curve is a cubic spline. It begins with the shown position and velocity
/// at t0. It ends with the motion's position and velocity at t0 + T.
///
/// A value; copy it freely. A default-constructed blend is over and shows the motion itself.
class RECKONER_RECKONING_API Blend {
 public:
  Blend() = default;

  /// Starts at `start_s` and ends on the new motion. `start_s` is in s of shown time, which is the server
  /// time that the client shows. `shown` is the state that is drawn at `start_s`. `motion_at_start` is the
  /// new motion's state at `start_s`. The blend uses the position, velocity, orientation and angular velocity
  /// of both states. It takes `duration_s` seconds; if `duration_s` is 0 or less, the blend is already over.
  /// The orientation is blended within `turn_share` x `duration_s` seconds; `turn_share` is above 0 and at
  /// most 1.
  ///
  /// `shape` is not owned and must outlive the blend and all of its copies. Null means cubic_blend().
  Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
        double turn_share = 1.0, const BlendShape* shape = nullptr);

  /// The state to show at `time_s`. `motion` is the new motion's state at that time. Before the start the
  /// offset is constant; after the end the result is `motion` itself. The acceleration of the result includes
  /// the second derivative of the offset.
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

/// Limits a motion to the body's top speed (Motion::max_speed_mps). Returns the motion that the caller must
/// extrapolate to `time_s`. If the body has not reached its top speed by `time_s`, this is `motion`.
/// Otherwise it is a motion straight ahead that begins at the moment when the body reached its top speed.
///
/// `valid_until_s`: faded_state() fades the acceleration from this time on. If the body would reach its top
/// speed within kFadeAccelerationS after that, the returned motion has no acceleration from `valid_until_s`
/// on. A motion on a route, a braking motion that never reverses and a motion without a top speed are
/// returned unchanged.
[[nodiscard]] RECKONER_RECKONING_API Motion limited_to_top_speed(const Motion& motion, double valid_until_s,
                                                                 double time_s);

/// True if the motion certainly reaches neither its top speed nor the edge of its world within `span_s`
/// seconds. The test is cheap and cautious: it may also return false for a motion that reaches neither.
[[nodiscard]] RECKONER_RECKONING_API bool stays_within_limits(const Motion& motion, double span_s);

/// The first point of a cubic curve at which a body is faster than `max_mps`, m/s, as a share of the curve's
/// duration (0 to 1). Nullopt if there is none. The body's velocity (the hodograph) is a quadratic Bézier
/// curve from `v0` to `v1`, and `middle` is its second control point. Such a curve lies in the convex hull of
/// its three control points, so the body is slow enough if no control point is longer than `max_mps`.
/// Otherwise the search halves the curve, at most ten times.
[[nodiscard]] RECKONER_RECKONING_API std::optional<double> first_faster(const glm::dvec3& v0,
                                                                        const glm::dvec3& middle,
                                                                        const glm::dvec3& v1, double max_mps);

/// Replaces a blend that would show a body faster than its top speed. The shown body chases the motion and
/// stays within the top speed. After a stall (BlendTime::hurries), a chase that would not reach its motion
/// within kLongestCatchUpS is not begun; the entity catches up with a higher speed instead (BlendTime,
/// `limit_mps`). The chase advances in steps: the first step takes kStepS, and later steps are longer. In
/// each step the chase computes the velocity that would close the gap to the motion with the time constant
/// kTimeConstantS, limited to the top speed. The velocity changes linearly to that value until the end of the
/// step. So the shown position is C1. Within a step, the speed is never above the larger of the speeds at the
/// two ends of the step.
///
/// A value. The shown state depends only on the chase, the motion and the time.
struct RECKONER_RECKONING_API Chase {
  static constexpr double kStepS = 1.0 / 32.0;   ///< first step, s
  static constexpr double kTimeConstantS = 0.1;  ///< time constant with which the chase closes the gap, s

  /// When the chase begins, s of shown time. Infinity means that there is no chase.
  double start_s = std::numeric_limits<double>::infinity();
  glm::dvec3 position{0.0};    ///< position shown at the start, m
  glm::dvec3 velocity{0.0};    ///< velocity shown at the start, m/s
  std::uint8_t teleports = 0;  ///< teleport counter of the chased motion; the chase ends at the next teleport
  FrameId frame{};             ///< frame of the chased motion; the chase ends when the frame changes
  double by_s = 0.0;           ///< when the chase must have reached the motion, s of shown time; 0: any time
  double limit_mps = 0.0;      ///< speed limit, m/s; 0: the body's top speed

  /// True if the chase applies at `time_s`. `motion` is the motion that is shown at `time_s`.
  [[nodiscard]] bool is_valid_for(const Motion& motion, double time_s) const {
    return time_s >= start_s && motion.route == nullptr && motion.teleports == teleports &&
           motion.frame == frame;
  }

  /// The state of a chase at one time.
  struct Point {
    glm::dvec3 position;      ///< m
    glm::dvec3 velocity;      ///< m/s
    glm::dvec3 acceleration;  ///< m/s^2
  };

  /// The velocity of the chase at the end of one step towards a body, m/s. The step takes `step_s` seconds.
  /// The result is not faster than `max_mps`, m/s. `target` is the state of the body at the end of the step.
  /// `from` is the state of the chase at the beginning of the step.
  [[nodiscard]] static glm::dvec3 velocity_towards(const State& target, const Point& from, double step_s,
                                                   double max_mps);

  /// The state of the chase at `time_s`. `target(t)` returns the chased body's State at time t. `max_mps` is
  /// the top speed, m/s.
  template <class Target>
  [[nodiscard]] Point at(double time_s, double max_mps, Target target) const;
};

template <class Target>
Chase::Point Chase::at(double time_s, double max_mps, Target target) const {
  // If the chase does not reach its target for a long time, no updates arrive, and the target moves steadily.
  // So the steps can grow, and a chase of one hour has only a few hundred steps.
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

/// A motion is extrapolated to this long before its time stamp, s. A client needs that while its clock is
/// a little late.
inline constexpr double kExtrapolateBackS = 0.1;
/// Before that time, the velocity fades to zero within this time, s. So a client whose clock stood still
/// shows a body near its newest motion, at rest.
inline constexpr double kFadeBackS = 0.15;

/// Duration of the fade of the acceleration, s. The fade begins when the motion is no longer known to be
/// valid.
inline constexpr double kFadeAccelerationS = 0.25;
/// Duration of the fade of the velocity, s. This fade begins when the acceleration has faded.
inline constexpr double kFadeVelocityS = 0.75;

/// Value of `valid_until_s` for a motion that is valid without a time limit.
inline constexpr double kAlwaysValid = std::numeric_limits<double>::infinity();

/// The motion's state at `time_s`, if the motion is known to be valid only until `valid_until_s` (s).
///
/// Until `valid_until_s` the result is state_at(). From then on the acceleration fades linearly within
/// kFadeAccelerationS. After that the velocity fades to zero by the cubic 1 - 3u^2 + 2u^3 within
/// kFadeVelocityS. The angular velocity fades together with the velocity. Position, velocity and acceleration
/// are continuous.
///
/// After `valid_until_s` the body moves at most |v| (Ta + Tv/2) + |a| (Ta^2/3 + Ta Tv/4). Here v and a are
/// velocity and acceleration at `valid_until_s`, Ta is kFadeAccelerationS and Tv is kFadeVelocityS. An entity
/// on a route stays on its course and only slows down. The same is true for a braking entity that never
/// reverses (Motion::never_reverses, is_braking()). The fade never begins before the motion's own time stamp.
///
/// Before the motion's time stamp the result is state_at() for kExtrapolateBackS. Earlier, the velocity fades
/// to zero within kFadeBackS, and then the body rests. So nothing is extrapolated back by more than
/// kExtrapolateBackS + kFadeBackS / 2.
[[nodiscard]] RECKONER_RECKONING_API State faded_state(const Motion& motion, double valid_until_s,
                                                       double time_s);

/// Like faded_state(), but returns distance, speed and acceleration along the route. The motion must be on a
/// route.
[[nodiscard]] RECKONER_RECKONING_API RouteState faded_route_state(const Motion& motion, double valid_until_s,
                                                                  double time_s);

/// Blends along a route, as Blend does in space. Within T seconds the offset moves the shown distance and
/// speed onto the distance and speed of a new motion on the same route. So the shown entity never leaves the
/// curve. The shown distance and speed are continuous, and so are position and velocity.
///
/// A value; copy it freely. A default-constructed blend is over and shows the motion itself.
class RECKONER_RECKONING_API RouteBlend {
 public:
  RouteBlend() = default;

  /// Starts at `start_s` (s of shown time) and ends on the new motion. `shown` is the route state that is
  /// drawn at `start_s`. `motion_at_start` is the new motion's route state at `start_s`. Pass both states as
  /// Route::advanced_on_route() returns them, with a distance that counts laps. On a closed or ping-pong
  /// route the blend takes the shorter direction. It takes `duration_s` seconds; if `duration_s` is 0 or
  /// less, the blend is already over.
  ///
  /// `shape` is not owned and must outlive the blend and all of its copies. Null means cubic_blend().
  RouteBlend(const Route& route, const RouteState& shown, const RouteState& motion_at_start, double start_s,
             double duration_s, const BlendShape* shape = nullptr);

  /// The route state to show at `time_s`. `motion` is the new motion's route state at that time.
  [[nodiscard]] RouteState apply(const RouteState& motion, double time_s) const;

  /// When the blend ends, s of shown time.
  [[nodiscard]] double end_s() const { return start_s_ + duration_s_; }
  /// Duration, s.
  [[nodiscard]] double duration_s() const { return duration_s_; }
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
