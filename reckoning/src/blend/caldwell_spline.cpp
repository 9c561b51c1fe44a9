// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/caldwell_spline.hpp"

#include <cassert>

namespace reckoner {

glm::dvec3 CaldwellSpline::position(double elapsed_s) const {
  const double s = elapsed_s / duration_s;
  return ((a * s + b) * s + c) * s + d;
}

glm::dvec3 CaldwellSpline::velocity(double elapsed_s) const {
  const double s = elapsed_s / duration_s;
  return ((3.0 * a * s + 2.0 * b) * s + c) / duration_s;
}

CaldwellSpline spline_through(const glm::dvec3& p0, const glm::dvec3& p1, const glm::dvec3& p2,
                              const glm::dvec3& p3, double duration_s) {
  assert(duration_s > 0.0);
  return {p3 - 3.0 * p2 + 3.0 * p1 - p0, 3.0 * p2 - 6.0 * p1 + 3.0 * p0, 3.0 * (p1 - p0), p0, duration_s};
}

CaldwellSpline caldwell_spline(const glm::dvec3& shown_position, const glm::vec3& shown_velocity,
                               const State& packet, double age_s, double duration_s) {
  // Everything is computed in double precision, without extrapolate(): it rounds the velocity to float, which
  // would lose nine digits.
  const double ahead_s = age_s + duration_s;
  const glm::dvec3 velocity{packet.velocity};
  const glm::dvec3 acceleration{packet.acceleration};
  const glm::dvec3 end = packet.position + (velocity + 0.5 * acceleration * ahead_s) * ahead_s;
  const glm::dvec3 end_velocity = velocity + acceleration * ahead_s;

  const double third_s = duration_s / 3.0;
  return spline_through(shown_position, shown_position + glm::dvec3{shown_velocity} * third_s,
                        end - end_velocity * third_s, end, duration_s);
}

}  // namespace reckoner
