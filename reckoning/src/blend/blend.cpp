// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/blend_profile.hpp>

namespace reckoner {
namespace {

using Weights = BlendShape::Weights;

// f = 1 - 3u^2 + 2u^3 and g = u (1-u)^2 in factored form, and their derivatives.
Weights cubic_value(double u) {
  const double left = 1.0 - u;
  return {(1.0 + 2.0 * u) * left * left, u * left * left};
}
Weights cubic_first(double u) {
  const double left = 1.0 - u;
  return {-6.0 * u * left, left * (1.0 - 3.0 * u)};
}
Weights cubic_second(double u) {
  return {12.0 * u - 6.0, 6.0 * u - 4.0};
}

// f = 1 - 10u^3 + 15u^4 - 6u^5 and g = u - 6u^3 + 8u^4 - 3u^5 in factored form, and their derivatives.
Weights quintic_value(double u) {
  const double left = 1.0 - u, left3 = left * left * left;
  return {(1.0 + 3.0 * u + 6.0 * u * u) * left3, (1.0 + 3.0 * u) * u * left3};
}
Weights quintic_first(double u) {
  const double left = 1.0 - u, left2 = left * left;
  return {-30.0 * u * u * left2, left2 * (1.0 + 5.0 * u) * (1.0 - 3.0 * u)};
}
Weights quintic_second(double u) {
  const double left = 1.0 - u;
  return {-60.0 * u * left * (1.0 - 2.0 * u), -12.0 * u * left * (3.0 - 5.0 * u)};
}

// f = (1 + 4u) (1-u)^4 and g = u (1-u)^4, and their derivatives.
Weights damped_value(double u) {
  const double left = 1.0 - u, left4 = (left * left) * (left * left);
  return {(1.0 + 4.0 * u) * left4, u * left4};
}
Weights damped_first(double u) {
  const double left = 1.0 - u, left3 = left * left * left;
  return {-20.0 * u * left3, left3 * (1.0 - 5.0 * u)};
}
Weights damped_second(double u) {
  const double left = 1.0 - u, left2 = left * left;
  return {-20.0 * left2 * (1.0 - 4.0 * u), -4.0 * left2 * (2.0 - 5.0 * u)};
}

// f': the speed rises within the first share `r` of the time, stays at its largest value 1 / (1 - r), and
// falls within the last share `r`. g': falls from 1 to 0 within the share `q`, and then makes up for the
// distance slowly.
template <int kPercent>
struct Trapezoid {
  static constexpr double r = kPercent / 100.0;
  static constexpr double q = r > 0.15 ? r : 0.15;
  static constexpr double top = 1.0 / (1.0 - r);

  static double since(double u) { return (u - q) / (1.0 - q); }
  static Weights value(double u) {
    const double left = 1.0 - u, w = since(u);
    const double offset = u < r      ? 1.0 - u * u * (0.5 * top / r)
                          : left < r ? left * left * (0.5 * top / r)
                                     : 1.0 - (u - 0.5 * r) * top;
    return {offset, u < q ? u * (1.0 - 0.5 * u / q) : 0.5 * q * (1.0 - w) * (1.0 - w) * (1.0 + 2.0 * w)};
  }
  static Weights first(double u) {
    const double w = since(u);
    return {-top * std::min({1.0, u / r, (1.0 - u) / r}),
            u < q ? 1.0 - u / q : -3.0 * q / (1.0 - q) * w * (1.0 - w)};
  }
  static Weights second(double u) {
    const double w = since(u);
    return {u < r         ? -top / r
            : 1.0 - u < r ? top / r
                          : 0.0,
            u < q ? -1.0 / q : -3.0 * q / ((1.0 - q) * (1.0 - q)) * (1.0 - 2.0 * w)};
  }
  static constexpr BlendShape kShape{value, first, second, {top, 1.0}};
};

// The bounds: |f'| is largest at u = 1/2 (damped: 1/4), |g'| at u = 0.
constexpr BlendShape kCubic{cubic_value, cubic_first, cubic_second, {1.5, 1.0}};
constexpr BlendShape kQuintic{quintic_value, quintic_first, quintic_second, {1.875, 1.0}};
constexpr BlendShape kDamped{damped_value, damped_first, damped_second, {135.0 / 64.0, 1.0}};

struct OffsetAt {
  glm::dvec3 value;
  glm::dvec3 rate;
  glm::dvec3 second;
};

// The curves of BlendProfile are computed without a call through a function pointer. Null is the cubic.
Weights weights_at(const BlendShape* shape, double u) {
  if (shape == nullptr || shape == &kCubic) return cubic_value(u);
  return shape == &kDamped ? damped_value(u) : shape->value(u);
}

// The offset at u.
glm::dvec3 value_at(const BlendShape* shape, const glm::dvec3& e0, const glm::dvec3& e1, double u, double t) {
  const Weights w = weights_at(shape, u);
  return e0 * w.offset + e1 * (t * w.rate);
}

// The offset and its time derivatives.
OffsetAt offset_at(const BlendShape* shape, const glm::dvec3& e0, const glm::dvec3& e1, double u, double t) {
  const Weights first = shape ? shape->first(u) : cubic_first(u);
  const Weights second = shape ? shape->second(u) : cubic_second(u);
  return {value_at(shape, e0, e1, u, t), e0 * (first.offset / t) + e1 * first.rate,
          e0 * (second.offset / (t * t)) + e1 * (second.rate / t)};
}

}  // namespace

const BlendShape& cubic_blend() {
  return kCubic;
}
const BlendShape& quintic_blend() {
  return kQuintic;
}
const BlendShape& damped_blend() {
  return kDamped;
}
const BlendShape& blend_shape(BlendCurve curve) {
  return curve == BlendCurve::damped ? kDamped : kCubic;
}
const BlendShape& steady_blend() {
  return Trapezoid<25>::kShape;
}
const BlendShape& brisk_blend() {
  return Trapezoid<8>::kShape;
}

Blend::Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
             double turn_share, const BlendShape* shape)
    : start_s_(start_s),
      duration_s_(std::max(0.0, duration_s)),
      turn_duration_s_(turn_share * duration_s_),
      shape_(shape) {
  offset_ = shown.position - motion_at_start.position;
  offset_rate_ = glm::dvec3{shown.velocity} - glm::dvec3{motion_at_start.velocity};

  const glm::dquat turn =
      glm::normalize(glm::dquat{shown.orientation} * glm::conjugate(glm::dquat{motion_at_start.orientation}));
  rotation_ = rotation_log(turn);
  // From shown = exp(r) motion follows w_shown = J(r) r' + exp(r) w_motion. This is solved for r', so that
  // the angular velocity w is continuous.
  const glm::dvec3 turned_angular_velocity = turn * glm::dvec3{motion_at_start.angular_velocity};
  rotation_rate_ = angular_velocity_to_rotation_rate(
      rotation_, glm::dvec3{shown.angular_velocity} - turned_angular_velocity);
}

Blend::Offset Blend::offset(double time_s) const {
  const double since_s = std::max(0.0, time_s - start_s_);
  return {value_at(shape_, offset_, offset_rate_, since_s / duration_s_, duration_s_),
          value_at(shape_, rotation_, rotation_rate_, std::min(1.0, since_s / turn_duration_s_),
                   turn_duration_s_)};
}

double Blend::top_speed_mps() const {
  if (duration_s_ <= 0.0) return 0.0;
  const Weights most = shape_ ? shape_->steepest : kCubic.steepest;
  return most.offset * glm::length(offset_) / duration_s_ + most.rate * glm::length(offset_rate_);
}

State Blend::apply(const State& motion, double time_s) const {
  if (over(time_s)) return motion;
  const double since_s = std::max(0.0, time_s - start_s_);

  State shown = motion;
  const OffsetAt e = offset_at(shape_, offset_, offset_rate_, since_s / duration_s_, duration_s_);
  shown.position += e.value;
  shown.velocity = glm::vec3{glm::dvec3{motion.velocity} + e.rate};
  shown.acceleration = glm::vec3{glm::dvec3{motion.acceleration} + e.second};

  const OffsetAt r = offset_at(shape_, rotation_, rotation_rate_, std::min(1.0, since_s / turn_duration_s_),
                               turn_duration_s_);
  const glm::dquat turn = rotation_exp(r.value);
  shown.orientation = glm::quat{glm::normalize(turn * glm::dquat{motion.orientation})};
  shown.angular_velocity = glm::vec3{rotation_rate_to_angular_velocity(r.value, r.rate) +
                                     turn * glm::dvec3{motion.angular_velocity}};
  return shown;
}

RouteBlend::RouteBlend(const Route& route, const RouteState& shown, const RouteState& motion_at_start,
                       double start_s, double duration_s, const BlendShape* shape)
    : start_s_(start_s),
      duration_s_(std::max(0.0, duration_s)),
      offset_(route.unwrapped(shown.distance, motion_at_start.distance) - motion_at_start.distance),
      offset_rate_(shown.speed - motion_at_start.speed),
      shape_(shape) {}

RouteState RouteBlend::apply(const RouteState& motion, double time_s) const {
  if (over(time_s)) return motion;
  const double t = duration_s_;
  const double u = std::max(0.0, (time_s - start_s_) / t);
  const BlendShape& shape = shape_ ? *shape_ : kCubic;
  const Weights value = shape.value(u), first = shape.first(u), second = shape.second(u);
  return {motion.distance + offset_ * value.offset + offset_rate_ * (t * value.rate),
          motion.speed + offset_ * (first.offset / t) + offset_rate_ * first.rate,
          motion.acceleration + offset_ * (second.offset / (t * t)) + offset_rate_ * (second.rate / t)};
}

}  // namespace reckoner
