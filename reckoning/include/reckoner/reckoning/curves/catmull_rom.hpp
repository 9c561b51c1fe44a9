// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The knot interval between two points: uniform (1), centripetal (the square root of their distance) or
/// chordal (their distance). Centripetal knots give neither cusps nor loops inside a segment (C. Yuksel, S.
/// Schaefer, J. Keyser, "Parameterization and applications of Catmull-Rom curves", 2011).
enum class CatmullRomKnots : std::uint8_t { kUniform = 0, kCentripetal = 1, kChordal = 2 };

/// The extra point before the first and after the last point. Doubled: the end point again. Reflected: its
/// neighbour, mirrored at the end point. Closed: the points at the other end of the curve. With centripetal
/// or chordal knots, the knot interval of the extra point is that of the neighbour on the other side of the
/// end point.
enum class CatmullRomEnds : std::uint8_t { kDoubled = 0, kReflected = 1, kClosed = 2 };

/// Options of a Catmull-Rom curve.
struct CatmullRomOptions {
  CatmullRomKnots knots = CatmullRomKnots::kUniform;  ///< the interval between knots
  CatmullRomEnds ends = CatmullRomEnds::kDoubled;     ///< the extra points beyond the ends
};

/// The uniform Catmull-Rom cubic from p1 (t = 0) to p2 (t = 1), with p0 before and p3 after them:
/// (2 p1 + (p2 - p0) t + (2 p0 - 5 p1 + 4 p2 - p3) t^2 + (3 p1 - p0 - 3 p2 + p3) t^3) / 2.
template <CurveVector V>
[[nodiscard]] V catmull_rom(const V& p0, const V& p1, const V& p2, const V& p3, double t) {
  return hermite_piece(p1, p2, V(0.5 * (p2 - p0)), V(0.5 * (p3 - p1))).position(t);
}

/// A Catmull-Rom curve, which passes through its points (E. Catmull, R. Rom, "A class of local interpolating
/// splines", 1974; uneven knots: P. Barry, R. Goldman, 1988). There is one segment between each two
/// neighbours. The parameter counts segments, so position(i) is exactly point i. The tangent at a point is
/// (v0 d1 + v1 d0) / (d0 + d1). Here v0 and v1 are the mean velocities of the segments before and after it,
/// and d0 and d1 their knot intervals.
///
/// The curve is C1 in time. With uniform knots, time is the parameter. With other knots, segment i lasts
/// knot_interval(i). All functions return derivatives with respect to the parameter, which are
/// knot_interval() times the derivatives in time. So their direction is continuous, but their length changes
/// at the points.
///
/// Repeated points: uniform knots treat them like any other points. With other knots the curve has the same
/// shape as if the point were given once. The segment between the repeats then has zero length, zero
/// derivatives and a knot_interval() of 0. If the last point of a closed curve repeats the first, it is used
/// only once.
///
/// A value; evaluation allocates nothing.
template <CurveVector V>
class CatmullRom {
 public:
  /// Fails if there are fewer than two points (closed: three, not counting a repeat of the first at the end),
  /// or if a coordinate is not finite or larger than kLargestCoordinate.
  [[nodiscard]] static Result<CatmullRom> make(std::span<const V> points,
                                               const CatmullRomOptions& options = {});

  /// Position at the parameter t, which counts segments.
  [[nodiscard]] V position(double t) const { return path_.position(t); }
  /// First derivative with respect to t.
  [[nodiscard]] V derivative(double t) const { return path_.derivative(t); }
  /// Second derivative with respect to t.
  [[nodiscard]] V second_derivative(double t) const { return path_.second_derivative(t); }
  /// Position and first derivative together.
  [[nodiscard]] CurvePoint<V> evaluate(double t) const { return path_.evaluate(t); }

  /// The number of segments.
  [[nodiscard]] std::size_t segment_count() const { return path_.piece_count(); }
  /// The difference between the two knots of a segment, in the unit that CatmullRomKnots defines.
  [[nodiscard]] double knot_interval(std::size_t segment) const { return intervals_[segment]; }
  /// The curve as a sequence of cubic pieces, with the same parameter.
  [[nodiscard]] const CubicPath<V>& path() const { return path_; }

  /// Points on the curve, `n` (>= 1) per segment plus the end: segment_count() x n + 1 points. Every n-th is
  /// exactly one of the curve's points.
  [[nodiscard]] std::vector<V> subdivide(std::size_t n) const;

 private:
  CatmullRom(CubicPath<V> path, std::vector<double> intervals)
      : path_(std::move(path)), intervals_(std::move(intervals)) {}

  CubicPath<V> path_;
  std::vector<double> intervals_;
};

/// Points on the Catmull-Rom curve through `points`, `n` per segment plus the end: (count - 1) x n + 1
/// points, closed count x n + 1. The given points are reproduced exactly. Fails like CatmullRom::make(), and
/// if n is 0.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> subdivide(std::span<const V> points, std::size_t n,
                                               const CatmullRomOptions& options = {});

}  // namespace reckoner
