// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// The curve between two motions begins this long before the time stamp of the later motion, s. Until then
/// the earlier motion is shown. A motion on a route is usually valid for a long time, and becomes wrong only
/// shortly before the next motion is published.
inline constexpr double kRouteInterpolationS = 0.25;

/// The time at which the curve from `a`, a motion on a route, to the later motion `b` begins, s.
[[nodiscard]] double route_interpolation_start_s(const Motion& a, const Motion& b);

/// Interpolates between two motions on the same route. The distance follows a cubic that matches distance and
/// speed at both ends, so no shown position leaves the route. `time_s` must be between the two motions'
/// times.
[[nodiscard]] RouteState interpolated_on_route(const Motion& a, const Motion& b, double time_s);

}  // namespace reckoner
