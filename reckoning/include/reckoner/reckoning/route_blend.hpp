// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

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
