// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// How long before the later of two motions the curve between them begins, s; until then the earlier motion
/// is shown. A motion on a route usually holds for long and was found wrong only shortly before the next one
/// was published.
inline constexpr double kRouteInterpolationS = 0.25;

/// The time at which the curve from `a`, a motion on a route, to the later motion `b` begins, s.
[[nodiscard]] double route_interpolation_start_s(const Motion& a, const Motion& b);

/// Interpolates between two motions on the same route: the cubic through distance and speed at both ends, so
/// that no pose leaves the curve. `time_s` must be between the two motions' times.
[[nodiscard]] RouteState interpolated_on_route(const Motion& a, const Motion& b, double time_s);

}  // namespace reckoner
