// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Where an entity is on a route, and how it goes on: what is published instead of a position.
struct RouteState {
  double distance = 0.0;      ///< m from the start, any number; may count laps
  double speed = 0.0;         ///< m/s along the route; negative: backwards
  double acceleration = 0.0;  ///< m/s^2 along the route; brakes to rest, never reverses (Route::advanced())
};

class Route;

/// A state and the model that carries it forward: what is published, and what both ends predict with. The
/// model is quadratic motion, or a route.
struct Motion {
  State state;          ///< at time_s
  double time_s = 0.0;  ///< server time at which `state` is exact
  std::uint8_t teleports =
      0;  ///< declared discontinuities so far, modulo 256; a difference is never blended across

  /// The route it follows, or null: free. Not owned. The routes that a server or a client gives out live as
  /// long as it does and never move; who makes a motion by hand keeps its route alive.
  const Route* route = nullptr;
  RouteState along{};       ///< on the route, at `time_s`; `state` is the same in the world
  bool faces_along = true;  ///< on a route: turned by it; false: keeps the orientation of `state`

  bool never_reverses = false;  ///< free motion: carried on by extrapolate_braking()
  bool bends = false;           ///< may end the way here with the acceleration of `state` (interpolate.hpp):
  std::uint8_t link = 0;        ///< if it follows the motion that this says: next_link() (interpolate.hpp)

  static constexpr std::uint8_t kLinks = 4;  ///< links are below this

  /// What cannot be exceeded by a body in free motion, and is not shown to be: its speed, m/s, and how far it
  /// is from the origin along an axis, m. state_at() knows nothing of them.
  float max_speed_mps = std::numeric_limits<float>::infinity();
  /// The latter of the two.
  float world_size_m = std::numeric_limits<float>::infinity();

  FrameId frame{};  ///< that `state`, and its route, are in; what is carried forward stays in it
};

/// `state`, `dt_s` seconds later (or earlier, if negative), under quadratic motion and constant angular
/// velocity: p + v t + a t^2 / 2, v + a t; the orientation turns by |w| t about w.
///
/// Both ends of a connection run this function and must agree to the last bit on every platform, so it uses
/// only + - * / and sqrt, with sine and cosine of its own, compiled in the library without contraction.
[[nodiscard]] RECKONER_RECKONING_API State extrapolate(const State& state, double dt_s);

/// The same for what brakes but never goes into reverse, such as a car (Archetype::never_reverses). Where
/// extrapolate() has no way ahead left, that is, its velocity has come to be across the one at the start,
/// what is left of it is braked as hard as the motion was, and then the body rests. The position's derivative
/// is the velocity, which is continuous; orientation as ever. As bit-exact as extrapolate().
[[nodiscard]] RECKONER_RECKONING_API State extrapolate_braking(const State& state, double dt_s);

/// True if such a body is coming to rest.
[[nodiscard]] RECKONER_RECKONING_API bool is_braking(const State& state);

/// The motion's state at server time `time_s`: extrapolate() or extrapolate_braking() for free motion,
/// Route::state_at() on a route.
[[nodiscard]] RECKONER_RECKONING_API State state_at(const Motion& motion, double time_s);

/// As it is to be shown at `along` on the motion's route. The motion must be on one.
[[nodiscard]] RECKONER_RECKONING_API State state_along(const Motion& motion, const RouteState& along);

}  // namespace reckoner
