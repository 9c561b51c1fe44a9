// SPDX-License-Identifier: MIT
#include <algorithm>

#include <reckoner/reckoning/route_blend.hpp>

namespace reckoner {

RouteBlend::RouteBlend(const Route& route, const RouteState& shown, const RouteState& motion_at_start,
                       double start_s, double duration_s)
    : start_s_(start_s),
      duration_s_(std::max(0.0, duration_s)),
      offset_(route.unwrapped(shown.distance, motion_at_start.distance) - motion_at_start.distance),
      offset_rate_(shown.speed - motion_at_start.speed) {}

RouteState RouteBlend::apply(const RouteState& motion, double time_s) const {
  if (over(time_s)) return motion;
  // e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2 and its time derivatives, as in Blend.
  const double t = duration_s_;
  const double u = std::max(0.0, (time_s - start_s_) / t);
  const double left = 1.0 - u;
  return {motion.distance + offset_ * (1.0 + 2.0 * u) * left * left + offset_rate_ * t * u * left * left,
          motion.speed - offset_ * 6.0 * u * left / t + offset_rate_ * left * (1.0 - 3.0 * u),
          motion.acceleration + offset_ * (12.0 * u - 6.0) / (t * t) + offset_rate_ * (6.0 * u - 4.0) / t};
}

}  // namespace reckoner
