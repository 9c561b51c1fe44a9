// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

template <CurveVector V>
double knot_interval_between(const V& a, const V& b, CatmullRomKnots knots) {
  if (knots == CatmullRomKnots::uniform) return 1.0;
  const double distance = curve_math::length(b - a);
  if (!(distance >= kSamePoint)) return 0.0;
  return knots == CatmullRomKnots::centripetal ? std::sqrt(distance) : distance;
}

// The points that determine the shape. With uniform knots these are all points. With other knots, points that
// repeat the point before them are left out.
template <CurveVector V>
struct Shape {
  std::vector<V> points;
  // Knot interval from each point to the next. If the curve is closed, also from the last point to the first.
  std::vector<double> intervals;
  std::vector<V> velocities;  // mean velocity of each interval, per unit of knot time
};

template <CurveVector V>
V phantom_velocity(CatmullRomEnds ends, const V& neighbour) {
  // In the extra interval, a doubled end point gives zero velocity. A mirrored neighbour gives the velocity
  // of the neighbouring interval of the curve.
  return ends == CatmullRomEnds::doubled ? V(0.0) : neighbour;
}

template <CurveVector V>
void find_velocities(Shape<V>& shape, CatmullRomEnds ends) {
  const bool closed = ends == CatmullRomEnds::closed;
  const std::size_t n = shape.points.size();
  const auto mean_velocity = [&](std::size_t i) {
    return V((shape.points[(i + 1) % n] - shape.points[i]) / shape.intervals[i]);
  };
  shape.velocities.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool has_before = closed || i > 0;
    const bool has_after = closed || i + 1 < n;
    const std::size_t before = (i + n - 1) % n;
    const V v0 = has_before ? mean_velocity(before) : phantom_velocity(ends, mean_velocity(i));
    const V v1 = has_after ? mean_velocity(i) : phantom_velocity(ends, mean_velocity(before));
    const double d0 = has_before ? shape.intervals[before] : shape.intervals[i];
    const double d1 = has_after ? shape.intervals[i] : shape.intervals[before];
    shape.velocities.push_back(V((d1 * v0 + d0 * v1) / (d0 + d1)));
  }
}

}  // namespace

template <CurveVector V>
Result<CatmullRom<V>> CatmullRom<V>::make(std::span<const V> points, const CatmullRomOptions& options) {
  const bool closed = options.ends == CatmullRomEnds::closed;
  if (std::string error = points_error(points, 2); !error.empty()) return Error{std::move(error)};
  while (closed && points.size() > 1 && curve_math::same(points.front(), points.back())) {
    points = points.first(points.size() - 1);
  }
  if (closed && points.size() < 3) {
    return Error{
        "a closed curve needs at least 3 points (the last may repeat the first, but does not count)"};
  }

  const std::size_t count = points.size();
  const std::size_t segments = closed ? count : count - 1;
  std::vector<double> intervals(segments);
  Shape<V> shape;
  shape.points.push_back(points[0]);
  for (std::size_t i = 0; i < segments; ++i) {
    intervals[i] = knot_interval_between(points[i], points[(i + 1) % count], options.knots);
    if (intervals[i] == 0.0) continue;
    shape.intervals.push_back(intervals[i]);
    if (i + 1 < count) shape.points.push_back(points[i + 1]);
  }
  const bool moves = !shape.intervals.empty();
  if (moves) find_velocities(shape, options.ends);

  std::vector<CubicPiece<V>> pieces;
  pieces.reserve(segments + 1);
  std::size_t k = 0;  // index of the segment in the shape
  for (std::size_t i = 0; i < segments; ++i) {
    if (intervals[i] == 0.0) {
      pieces.push_back({points[i]});
      continue;
    }
    const double d = intervals[i];
    const V& v0 = shape.velocities[k];
    const V& v1 = shape.velocities[(k + 1) % shape.points.size()];
    pieces.push_back(hermite_piece(points[i], points[(i + 1) % count], V(d * v0), V(d * v1)));
    ++k;
  }
  CubicPath<V> path(std::move(pieces), closed ? points.front() : points.back(), closed);
  return CatmullRom(std::move(path), std::move(intervals));
}

template <CurveVector V>
std::vector<V> CatmullRom<V>::subdivide(std::size_t n) const {
  assert(n >= 1);
  std::vector<V> out;
  out.reserve(segment_count() * n + 1);
  // The parameter is computed from the index j, not by adding 1/n repeatedly. So the joints are exact.
  for (const CubicPiece<V>& piece : path_.pieces()) {
    for (std::size_t j = 0; j < n; ++j) {
      out.push_back(piece.position(static_cast<double>(j) / static_cast<double>(n)));
    }
  }
  out.push_back(path_.position(path_.end_parameter()));
  return out;
}

template <CurveVector V>
Result<std::vector<V>> subdivide(std::span<const V> points, std::size_t n, const CatmullRomOptions& options) {
  if (n == 0) return Error{"a segment must be subdivided into at least 1 part, got 0"};
  Result<CatmullRom<V>> curve = CatmullRom<V>::make(points, options);
  if (!curve) return Error{curve.error()};
  return curve->subdivide(n);
}

template class RECKONER_RECKONING_API CatmullRom<double>;
template class RECKONER_RECKONING_API CatmullRom<glm::dvec2>;
template class RECKONER_RECKONING_API CatmullRom<glm::dvec3>;
template RECKONER_RECKONING_API Result<std::vector<double>> subdivide(std::span<const double>, std::size_t,
                                                                      const CatmullRomOptions&);
template RECKONER_RECKONING_API Result<std::vector<glm::dvec2>> subdivide(std::span<const glm::dvec2>,
                                                                          std::size_t,
                                                                          const CatmullRomOptions&);
template RECKONER_RECKONING_API Result<std::vector<glm::dvec3>> subdivide(std::span<const glm::dvec3>,
                                                                          std::size_t,
                                                                          const CatmullRomOptions&);

}  // namespace reckoner
