// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

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

}  // namespace reckoner
