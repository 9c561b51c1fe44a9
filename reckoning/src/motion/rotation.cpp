// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"

#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Below this angle, rad, cancellation in the closed forms is worse than the error of the series (about
// angle^4 / 120).
constexpr double kSmallAngle = 1e-3;

}  // namespace

glm::dquat rotation_exp(const glm::dvec3& r) {
  const double angle = glm::length(r);
  const double half = 0.5 * angle;
  // sin(angle/2) / angle
  const double k = angle < kSmallAngle ? 0.5 - angle * angle / 48.0 : portable::sin(half) / angle;
  return {portable::cos(half), r.x * k, r.y * k, r.z * k};
}

glm::dvec3 rotation_log(const glm::dquat& q) {
  const double sign = q.w < 0.0 ? -1.0 : 1.0;
  const double w = sign * q.w;
  const glm::dvec3 v{sign * q.x, sign * q.y, sign * q.z};
  const double sine = glm::length(v);
  // angle / sin(angle/2); Unlike acos(w), atan2 is exact for angles near 0 and near pi.
  const double k = sine < kSmallAngle ? 2.0 + sine * sine / 3.0 : 2.0 * portable::atan2(sine, w) / sine;
  return v * k;
}

glm::dvec3 rotation_rate_to_angular_velocity(const glm::dvec3& r, const glm::dvec3& r_dot) {
  const double angle2 = glm::dot(r, r);
  const double angle = std::sqrt(angle2);
  double k1 = 0.5 - angle2 / 24.0;         // (1 - cos a) / a^2
  double k2 = 1.0 / 6.0 - angle2 / 120.0;  // (a - sin a) / a^3
  if (angle >= kSmallAngle) {
    const double sine_half = portable::sin(0.5 * angle);  // 1 - cos a = 2 sin^2(a/2), without cancellation
    k1 = 2.0 * sine_half * sine_half / angle2;
    k2 = angle < 0.1 ? 1.0 / 6.0 - angle2 / 120.0 + angle2 * angle2 / 5040.0
                     : (angle - portable::sin(angle)) / (angle2 * angle);
  }
  const glm::dvec3 cross = glm::cross(r, r_dot);
  return r_dot + k1 * cross + k2 * glm::cross(r, cross);
}

glm::dvec3 angular_velocity_to_rotation_rate(const glm::dvec3& r, const glm::dvec3& w) {
  const double angle2 = glm::dot(r, r);
  const double angle = std::sqrt(angle2);
  double k2 = 1.0 / 12.0 + angle2 / 720.0;  // 1/a^2 - (1 + cos a) / (2 a sin a)
  if (angle >= 0.1) {
    const double half = 0.5 * angle;
    k2 = (1.0 - half * portable::cos(half) / portable::sin(half)) / angle2;
  } else if (angle >= kSmallAngle) {
    k2 += angle2 * angle2 / 30240.0;
  }
  const glm::dvec3 cross = glm::cross(r, w);
  return w - 0.5 * cross + k2 * glm::cross(r, cross);
}

glm::quat slerp(const glm::quat& from, const glm::quat& to, double share) {
  const glm::dquat start{from};
  return glm::quat{start * rotation_exp(share * rotation_log(glm::conjugate(start) * glm::dquat{to}))};
}

double angle_between(const glm::quat& a, const glm::quat& b) {
  const glm::dquat turn = glm::dquat{b} * glm::conjugate(glm::dquat{a});
  const double sine = std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  return 2.0 * portable::atan2(sine, std::abs(turn.w));
}

}  // namespace reckoner
