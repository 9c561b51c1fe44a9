// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {
namespace {

struct OffsetAt {
  glm::dvec3 value;
  glm::dvec3 rate;
  glm::dvec3 second;
};

// e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2.
glm::dvec3 value_at(const glm::dvec3& e0, const glm::dvec3& e1, double u, double t) {
  const double left = 1.0 - u;
  return e0 * ((1.0 + 2.0 * u) * left * left) + e1 * (t * u * left * left);
}

// And its time derivatives.
OffsetAt offset_at(const glm::dvec3& e0, const glm::dvec3& e1, double u, double t) {
  const double left = 1.0 - u;
  return {value_at(e0, e1, u, t), e0 * (-6.0 * u * left / t) + e1 * (left * (1.0 - 3.0 * u)),
          e0 * ((12.0 * u - 6.0) / (t * t)) + e1 * ((6.0 * u - 4.0) / t)};
}

}  // namespace

Blend::Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
             double turn_share)
    : start_s_(start_s), duration_s_(std::max(0.0, duration_s)), turn_duration_s_(turn_share * duration_s_) {
  offset_ = shown.position - motion_at_start.position;
  offset_rate_ = glm::dvec3{shown.velocity} - glm::dvec3{motion_at_start.velocity};

  const glm::dquat turn =
      glm::normalize(glm::dquat{shown.orientation} * glm::conjugate(glm::dquat{motion_at_start.orientation}));
  rotation_ = rotation_log(turn);
  // shown = exp(r) motion, so w_shown = J(r) r' + exp(r) w_motion; solved for r' so that w is continuous.
  const glm::dvec3 carried = turn * glm::dvec3{motion_at_start.angular_velocity};
  rotation_rate_ = angular_velocity_to_rotation_rate(rotation_, glm::dvec3{shown.angular_velocity} - carried);
}

Blend::Offset Blend::offset(double time_s) const {
  const double since_s = std::max(0.0, time_s - start_s_);
  return {value_at(offset_, offset_rate_, since_s / duration_s_, duration_s_),
          value_at(rotation_, rotation_rate_, std::min(1.0, since_s / turn_duration_s_), turn_duration_s_)};
}

double Blend::top_speed_mps() const {
  // |e'| = |6 u (1-u) E0 / T| + |(1-u) (1-3u) E1|, and neither factor is larger than this.
  return duration_s_ > 0.0 ? 1.5 * glm::length(offset_) / duration_s_ + glm::length(offset_rate_) : 0.0;
}

State Blend::apply(const State& motion, double time_s) const {
  if (over(time_s)) return motion;
  const double since_s = std::max(0.0, time_s - start_s_);

  State shown = motion;
  const OffsetAt e = offset_at(offset_, offset_rate_, since_s / duration_s_, duration_s_);
  shown.position += e.value;
  shown.velocity = glm::vec3{glm::dvec3{motion.velocity} + e.rate};
  shown.acceleration = glm::vec3{glm::dvec3{motion.acceleration} + e.second};

  const OffsetAt r =
      offset_at(rotation_, rotation_rate_, std::min(1.0, since_s / turn_duration_s_), turn_duration_s_);
  const glm::dquat turn = rotation_exp(r.value);
  shown.orientation = glm::quat{glm::normalize(turn * glm::dquat{motion.orientation})};
  shown.angular_velocity = glm::vec3{rotation_rate_to_angular_velocity(r.value, r.rate) +
                                     turn * glm::dvec3{motion.angular_velocity}};
  return shown;
}

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
