// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>

#include <glm/gtc/quaternion.hpp>
#include <glm/mat3x3.hpp>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// A derivative below this share of the piece's coefficients counts as zero; it is only rounding error.
constexpr double kZeroDerivative = 1e-9;

template <CurveVector V>
double derivative_scale(const CubicPiece<V>& piece) {
  return curve_math::length(piece.c1) + 2.0 * curve_math::length(piece.c2) +
         3.0 * curve_math::length(piece.c3);
}

template <CurveVector V>
V unit(const V& v) {
  const double l = curve_math::length(v);
  return l > kSamePoint ? V(v / l) : V(0.0);
}

// The direction in which a piece continues from u. If `arriving` is true, the direction in which the piece
// arrives at u. Zero if the piece does not move.
template <CurveVector V>
V piece_direction(const CubicPiece<V>& piece, double u, bool arriving) {
  const double zero = kZeroDerivative * derivative_scale(piece);
  const V first = piece.derivative(u);
  if (curve_math::length(first) > zero) return unit(first);
  const V second = piece.second_derivative(u);
  if (curve_math::length(second) > zero) return unit(arriving ? V(-second) : second);
  return unit(piece.c3);
}

template <CurveVector V>
struct Location {
  std::size_t index;
  double u;
};

template <CurveVector V>
Location<V> locate(const CubicPath<V>& path, double parameter) {
  const double t = parameter > 0.0 ? std::min(parameter, path.end_parameter()) : 0.0;
  const auto index = std::min(static_cast<std::size_t>(t), path.piece_count() - 1);
  return {index, t - static_cast<double>(index)};
}

}  // namespace

template <CurveVector V>
V unit_tangent(const CubicPath<V>& path, double parameter) {
  const auto pieces = path.pieces();
  auto [index, u] = locate(path, parameter);
  if (u == 1.0 && path.closed()) index = 0, u = 0.0;
  V direction = piece_direction(pieces[index], u, u == 1.0);
  for (std::size_t i = index + 1; direction == V(0.0) && i < pieces.size(); ++i) {
    direction = piece_direction(pieces[i], 0.0, false);
  }
  for (std::size_t i = index; direction == V(0.0) && i > 0; --i) {
    direction = piece_direction(pieces[i - 1], 1.0, true);
  }
  return direction;
}

template <CurveVector V>
V curvature(const CubicPath<V>& path, double parameter) {
  const auto [index, u] = locate(path, parameter);
  const CubicPiece<V>& piece = path.pieces()[index];
  const V first = piece.derivative(u);
  const double speed = curve_math::length(first);
  if (!(speed > kZeroDerivative * derivative_scale(piece)) || !(speed > kSamePoint)) return V(0.0);
  const V tangent = first / speed;
  const V second = piece.second_derivative(u) / (speed * speed);
  return second - tangent * curve_math::dot(tangent, second);
}

Heading heading_of(const glm::dvec3& d) {
  const double horizontal = portable::hypot(d.x, d.y);
  return {horizontal > 0.0 ? portable::atan2(d.y, d.x) : 0.0,
          d.z != 0.0 || horizontal > 0.0 ? portable::atan2(d.z, horizontal) : 0.0};
}

glm::dquat orientation_of(const Heading& heading) {
  const double y = 0.5 * heading.yaw;
  const double p = -0.5 * heading.pitch;
  return glm::dquat(portable::cos(y), 0.0, 0.0, portable::sin(y)) *
         glm::dquat(portable::cos(p), 0.0, portable::sin(p), 0.0);
}

glm::dquat TangentFrame::orientation() const {
  return glm::normalize(glm::quat_cast(glm::dmat3(tangent, left, up)));
}

TangentFrame frame_towards(const glm::dvec3& tangent, const glm::dvec3& reference) {
  glm::dvec3 left = unit(glm::cross(reference, tangent));
  if (!(glm::length(glm::cross(unit(reference), tangent)) > 1e-9)) {
    // Any perpendicular direction is valid. Start from the axis along which the tangent is smallest.
    const glm::dvec3 size = glm::abs(tangent);
    const glm::dvec3 axis = size.y <= size.x && size.y <= size.z ? glm::dvec3(0.0, 1.0, 0.0)
                            : size.x <= size.z                   ? glm::dvec3(1.0, 0.0, 0.0)
                                                                 : glm::dvec3(0.0, 0.0, 1.0);
    left = unit(axis - tangent * glm::dot(tangent, axis));
  }
  return {tangent, left, glm::cross(tangent, left)};
}

TangentFrame transport_frame(const TangentFrame& frame, const glm::dvec3& from, const glm::dvec3& to,
                             const glm::dvec3& tangent) {
  glm::dvec3 up = frame.up;
  const glm::dvec3 chord = to - from;
  const double chord2 = glm::dot(chord, chord);
  // A chord that is as short as the rounding error has no useful direction. Over such a short distance the
  // shortest rotation gives the same result.
  if (chord2 > 1e-16 * glm::dot(to, to) && chord2 > kSamePoint) {
    const glm::dvec3 reflected_up = up - chord * (2.0 * glm::dot(chord, up) / chord2);
    const glm::dvec3 reflected_tangent =
        frame.tangent - chord * (2.0 * glm::dot(chord, frame.tangent) / chord2);
    const glm::dvec3 v = tangent - reflected_tangent;
    const double v2 = glm::dot(v, v);
    up = v2 > 1e-24 ? reflected_up - v * (2.0 * glm::dot(v, reflected_up) / v2) : reflected_up;
  } else {
    const double cosine = glm::dot(frame.tangent, tangent);
    if (cosine > -1.0 + 1e-12) up -= (frame.tangent + tangent) * (glm::dot(up, tangent) / (1.0 + cosine));
  }
  up = unit(up - tangent * glm::dot(tangent, up));
  return {tangent, glm::cross(up, tangent), up};
}

template RECKONER_RECKONING_API double unit_tangent(const CubicPath<double>&, double);
template RECKONER_RECKONING_API glm::dvec2 unit_tangent(const CubicPath<glm::dvec2>&, double);
template RECKONER_RECKONING_API glm::dvec3 unit_tangent(const CubicPath<glm::dvec3>&, double);
template RECKONER_RECKONING_API double curvature(const CubicPath<double>&, double);
template RECKONER_RECKONING_API glm::dvec2 curvature(const CubicPath<glm::dvec2>&, double);
template RECKONER_RECKONING_API glm::dvec3 curvature(const CubicPath<glm::dvec3>&, double);

}  // namespace reckoner
