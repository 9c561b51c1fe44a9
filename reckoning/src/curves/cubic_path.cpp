// SPDX-License-Identifier: MIT
#include <string>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {

template <CurveVector V>
std::string points_error(std::span<const V> points, std::size_t least) {
  if (points.size() < least) {
    return "a curve of this kind needs at least " + std::to_string(least) + " points, got " +
           std::to_string(points.size());
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!curve_math::usable(points[i])) {
      return "point " + std::to_string(i) + " has a coordinate that is not finite or too large";
    }
  }
  return {};
}

template <CurveVector V>
Result<CubicPath<V>> polyline_path(std::span<const V> points, bool closed) {
  if (std::string error = points_error(points, 1); !error.empty()) return Error{std::move(error)};
  std::vector<CubicPiece<V>> pieces;
  pieces.reserve(points.size() + 1);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    pieces.push_back({points[i], V(points[i + 1] - points[i])});
  }
  const bool returns = closed && points.size() > 1;
  if (returns || points.size() == 1) pieces.push_back({points.back(), V(points.front() - points.back())});
  return CubicPath<V>(std::move(pieces), returns ? points.front() : points.back(), returns);
}

template <CurveVector V>
Result<CubicPath<V>> quadratic_b_spline_path(std::span<const V> points, bool closed) {
  const std::size_t n = points.size();
  if (n < 3) return polyline_path(points, closed);
  if (std::string error = points_error(points, 3); !error.empty()) return Error{std::move(error)};

  const auto middle = [&](std::size_t edge) { return V(0.5 * (points[edge] + points[(edge + 1) % n])); };
  std::vector<CubicPiece<V>> pieces;
  pieces.reserve(n + 1);
  const auto round_off = [&](std::size_t corner) {
    const V a = middle((corner + n - 1) % n);
    const V b = points[corner];
    const V c = middle(corner);
    pieces.push_back({a, V(2.0 * (b - a)), V(a - 2.0 * b + c)});
  };

  if (closed) {
    for (std::size_t i = 0; i < n; ++i)
      round_off(i);
    return CubicPath<V>(std::move(pieces), middle(n - 1), true);
  }
  pieces.push_back({points[0], V(middle(0) - points[0])});
  for (std::size_t i = 1; i + 1 < n; ++i)
    round_off(i);
  pieces.push_back({middle(n - 2), V(points[n - 1] - middle(n - 2))});
  return CubicPath<V>(std::move(pieces), points[n - 1], false);
}

template RECKONER_RECKONING_API std::string points_error(std::span<const double>, std::size_t);
template RECKONER_RECKONING_API std::string points_error(std::span<const glm::dvec2>, std::size_t);
template RECKONER_RECKONING_API std::string points_error(std::span<const glm::dvec3>, std::size_t);
template RECKONER_RECKONING_API Result<CubicPath<double>> polyline_path(std::span<const double>, bool);
template RECKONER_RECKONING_API Result<CubicPath<glm::dvec2>> polyline_path(std::span<const glm::dvec2>,
                                                                            bool);
template RECKONER_RECKONING_API Result<CubicPath<glm::dvec3>> polyline_path(std::span<const glm::dvec3>,
                                                                            bool);
template RECKONER_RECKONING_API Result<CubicPath<double>> quadratic_b_spline_path(std::span<const double>,
                                                                                  bool);
template RECKONER_RECKONING_API Result<CubicPath<glm::dvec2>> quadratic_b_spline_path(
    std::span<const glm::dvec2>, bool);
template RECKONER_RECKONING_API Result<CubicPath<glm::dvec3>> quadratic_b_spline_path(
    std::span<const glm::dvec3>, bool);

}  // namespace reckoner
