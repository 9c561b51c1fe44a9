// SPDX-License-Identifier: MIT
#include "reckoning/src/routes/route_path.hpp"

#include <algorithm>
#include <cassert>

namespace reckoner {

double join_start_s(const Motion& a, const Motion& b) {
  return std::max(a.time_s, b.time_s - kRouteJoinS);
}

RouteState between_along(const Motion& a, const Motion& b, double time_s) {
  assert(a.route != nullptr && a.route == b.route);
  const Route& route = *a.route;
  const double start_s = join_start_s(a, b);
  if (time_s <= start_s) return route.carried(a.along, time_s - a.time_s);
  const RouteState from = route.carried(a.along, start_s - a.time_s);
  const double duration = b.time_s - start_s;
  const double end = route.unwrapped(b.along.distance, from.distance + duration * from.speed);
  const double u = (time_s - start_s) / duration;
  const double left = 1.0 - u;
  const double step = end - from.distance;
  return {from.distance + step * u * u * (3.0 - 2.0 * u) +
              duration * u * left * (from.speed * left - b.along.speed * u),
          step * 6.0 * u * left / duration + from.speed * left * (1.0 - 3.0 * u) +
              b.along.speed * u * (3.0 * u - 2.0),
          step * (6.0 - 12.0 * u) / (duration * duration) +
              (from.speed * (6.0 * u - 4.0) + b.along.speed * (6.0 * u - 2.0)) / duration};
}

}  // namespace reckoner
