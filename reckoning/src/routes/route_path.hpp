// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// A motion on a route holds for long, but was found wrong only shortly before the next one came: what joins
/// the two begins this long before the later one, s, and until then the earlier one is shown.
inline constexpr double kRouteJoinS = 0.25;

/// When the join from `a`, on a route, to the later motion `b` begins.
[[nodiscard]] double join_start_s(const Motion& a, const Motion& b);

/// Between two motions on one route: the cubic through distance and speed at both ends, so that no pose
/// leaves the curve. `time_s` lies between the two.
[[nodiscard]] RouteState between_along(const Motion& a, const Motion& b, double time_s);

}  // namespace reckoner
