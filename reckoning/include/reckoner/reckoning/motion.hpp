// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Position and movement of an entity along a route. It is published instead of a position in space.
struct RouteState {
  double distance = 0.0;  ///< m from the route's start; may be negative or count several laps
  double speed = 0.0;     ///< m/s along the route; negative values move backwards
  /// m/s^2 along the route. It can brake the entity to a stop, but it never reverses the speed
  /// (Route::advanced()).
  double acceleration = 0.0;
};

class Route;
struct Floor;
struct Walls;

/// What a sender promises about the time after a motion: if the next motion is more than `gap_s` later, the
/// motion was valid until shortly before the next one, with these errors at most. The sender would have sent
/// another motion otherwise. So a sudden start of an entity at rest is not spread over the whole time of its
/// rest (interpolate.hpp).
struct QuietGap {
  float gap_s = std::numeric_limits<float>::infinity();  ///< s; infinity: the sender promises nothing
  float error_m = 0.0f;                                  ///< m
  float error_rad = 0.0f;                                ///< rad
};

/// How an entity moved from the previous motion to this one, and on to the next, as far as the sender knows
/// it. Interpolation uses it (interpolate.hpp). The server's encoder sets it; a game that builds motions
/// itself leaves the defaults.
struct MotionTransition {
  /// True: `Motion::state.acceleration` shapes the interpolation from the previous motion to this motion, and
  /// extrapolation ignores it. False: it is used for extrapolation. Interpolation uses it only if `link`
  /// matches the previous motion.
  bool bends = false;
  std::uint8_t link = 0;  ///< next_link() of the previous motion, 0 to kLinks - 1
  /// True: the velocity or the angular velocity changed suddenly after the previous motion, for example in a
  /// collision. Interpolation from there to this motion ignores these two values of the previous motion.
  bool sudden = false;
  QuietGap quiet{};  ///< the sender's promise about the time after this motion

  static constexpr std::uint8_t kLinks = 4;  ///< number of different values of `link`
};

/// A state and the model that extrapolates it: quadratic motion, or a route. The server publishes motions.
/// Server and clients predict with them.
struct Motion {
  State state;          ///< exact at `time_s`
  double time_s = 0.0;  ///< server time at which `state` is exact, s
  /// Number of teleports so far, modulo 256. The client never blends between two motions with different
  /// counts.
  std::uint8_t teleports = 0;

  /// The route that the entity follows, or null for free motion. Not owned. The routes of a server or a
  /// client live as long as the server or client, and their addresses never change. If you build a motion
  /// yourself, keep its route alive.
  const Route* route = nullptr;
  RouteState along{};  ///< position on the route at `time_s`; describes the same place as `state`
  /// On a route: true if the route sets the orientation, false if the entity keeps the orientation of
  /// `state`.
  bool faces_route = true;

  bool never_reverses = false;  ///< true: free motion is extrapolated with extrapolate_braking()
  /// Top speed of the body in free motion, m/s. The body is never shown faster. Infinity means no limit.
  /// state_at() ignores this limit.
  float max_speed_mps = std::numeric_limits<float>::infinity();
  /// Largest absolute coordinate along each axis in free motion, m from the origin; the body is never shown
  /// beyond it. Infinity means no limit. state_at() ignores this limit.
  float world_size_m = std::numeric_limits<float>::infinity();

  MotionTransition transition{};  ///< how interpolation leads to this motion and on from it
  /// The ground (floor.hpp), or null. Not owned; it belongs to the archetype. Free motion in the world frame
  /// never leads below it.
  const Floor* floor = nullptr;
  /// The obstacles (walls.hpp), or null. Not owned; they belong to the archetype. Free motion in the world
  /// frame never leads behind them.
  const Walls* walls = nullptr;

  FrameId frame{};  ///< the frame of `state` and of the route; extrapolated states stay in it
};

/// The state `dt_s` seconds after `state`, or before it if `dt_s` is negative. Motion is quadratic: position
/// p + v t + a t^2 / 2, velocity v + a t. The angular velocity w is constant: the orientation turns by |w| t
/// about w.
///
/// Both ends of a connection run this function and must get exactly the same bits on every platform. So it
/// uses only + - * / and sqrt, has its own sine and cosine, and is compiled into the library without fused
/// multiply-add.
[[nodiscard]] RECKONER_RECKONING_API State extrapolate(const State& state, double dt_s);

/// Extrapolates like extrapolate(), but for a body that brakes and never goes into reverse, such as a car
/// (Archetype::never_reverses). The body brakes until its velocity along the starting direction is zero. Any
/// remaining sideways velocity is then braked with the same deceleration, and after that the body rests. The
/// velocity is continuous and is the derivative of the position. The orientation turns as in extrapolate().
/// Like extrapolate(), it gives exactly the same bits on every platform.
[[nodiscard]] RECKONER_RECKONING_API State extrapolate_braking(const State& state, double dt_s);

/// True if the acceleration has a component against the velocity, so that extrapolate_braking() brings the
/// body to rest.
[[nodiscard]] RECKONER_RECKONING_API bool is_braking(const State& state);

/// The floor that limits the motion: null if it has none, is on a route, or is relative to another entity.
[[nodiscard]] inline const Floor* floor_of(const Motion& motion) {
  return motion.route == nullptr && !motion.frame ? motion.floor : nullptr;
}

/// The walls that limit the motion: null if it has none, is on a route, or is relative to another entity.
[[nodiscard]] inline const Walls* walls_of(const Motion& motion) {
  return motion.route == nullptr && !motion.frame ? motion.walls : nullptr;
}

/// The motion's state at server time `time_s`, s. Free motion uses extrapolate() or extrapolate_braking(),
/// and stays above Motion::floor and in front of Motion::walls; a motion on a route uses Route::state_at().
[[nodiscard]] RECKONER_RECKONING_API State state_at(const Motion& motion, double time_s);

/// The state at the position `along` on the motion's route, with the orientation that the motion asks for
/// (Motion::faces_route). The motion must be on a route.
[[nodiscard]] RECKONER_RECKONING_API State state_along(const Motion& motion, const RouteState& along);

/// How an entity moves from one known motion to the next.
enum class MotionPath : std::uint8_t {
  predict,  ///< extrapolates the newest motion; shows the present
  /// Follows the cubic that is given by the positions and velocities of two neighbouring motions; shows the
  /// past.
  interpolate,
};

}  // namespace reckoner
