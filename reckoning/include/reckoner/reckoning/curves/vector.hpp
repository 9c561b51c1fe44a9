// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

namespace reckoner {

/// What a curve's points may be: a number, or a plane or space vector, in double precision.
template <class V>
concept CurveVector = std::same_as<V, double> || std::same_as<V, glm::dvec2> || std::same_as<V, glm::dvec3>;

/// The largest coordinate that curves take. Far above anything that moves, and its square is still finite, so
/// that no sum or length inside a curve overflows.
inline constexpr double kLargestCoordinate = 1e100;

/// Two points nearer than this are the same point: below it the square of their distance underflows.
inline constexpr double kSamePoint = 1e-150;

/// The few operations that GLM has for vectors only, for numbers too.
namespace curve_math {

/// The product.
[[nodiscard]] inline double dot(double a, double b) {
  return a * b;
}
/// The scalar product.
[[nodiscard]] inline double dot(const glm::dvec2& a, const glm::dvec2& b) {
  return a.x * b.x + a.y * b.y;
}
/// The scalar product.
[[nodiscard]] inline double dot(const glm::dvec3& a, const glm::dvec3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Without the sign.
[[nodiscard]] inline double length(double a) {
  return std::abs(a);
}
/// Euclidean.
[[nodiscard]] inline double length(const glm::dvec2& a) {
  return std::sqrt(dot(a, a));
}
/// Euclidean.
[[nodiscard]] inline double length(const glm::dvec3& a) {
  return std::sqrt(dot(a, a));
}

/// Whether they count as one point.
template <CurveVector V>
[[nodiscard]] bool same(const V& a, const V& b) {
  return length(a - b) < kSamePoint;
}

/// Finite and not larger than kLargestCoordinate.
[[nodiscard]] inline bool usable(double a) {
  return std::abs(a) <= kLargestCoordinate;
}
/// Every component is.
[[nodiscard]] inline bool usable(const glm::dvec2& a) {
  return usable(a.x) && usable(a.y);
}
/// Every component is.
[[nodiscard]] inline bool usable(const glm::dvec3& a) {
  return usable(a.x) && usable(a.y) && usable(a.z);
}

/// The vector in space, with zeros for the axes it has not.
[[nodiscard]] inline glm::dvec3 to_space(double a) {
  return {a, 0.0, 0.0};
}
/// In the plane z = 0.
[[nodiscard]] inline glm::dvec3 to_space(const glm::dvec2& a) {
  return {a.x, a.y, 0.0};
}
/// As it is.
[[nodiscard]] inline glm::dvec3 to_space(const glm::dvec3& a) {
  return a;
}

/// Angle between two directions, rad, 0 to pi; 0 if one of them has no length. By the half-angle form of
/// W. Kahan, which is exact near 0 and near pi, where acos of the dot product is not.
template <CurveVector V>
[[nodiscard]] double angle_between(const V& a, const V& b) {
  const double la = length(a);
  const double lb = length(b);
  if (!(la > kSamePoint) || !(lb > kSamePoint)) return 0.0;
  const V ua = a / la;
  const V ub = b / lb;
  return 2.0 * std::atan2(length(ua - ub), length(ua + ub));
}

}  // namespace curve_math
}  // namespace reckoner
