// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// How far apart in time the curve takes its points to be: equal steps, the square root of the distance, or
/// the distance. Centripetal makes neither cusps nor loops inside a segment (C. Yuksel, S. Schaefer, J.
/// Keyser, "Parameterization and applications of Catmull-Rom curves", 2011).
enum class CatmullRomKnots : std::uint8_t { kUniform = 0, kCentripetal = 1, kChordal = 2 };

/// What stands before the first and after the last point: that point again, its neighbour's mirror image in
/// it, or, closed, the points at the other end. With knots that are not uniform the point that is put there
/// is as far off in time as the neighbour on the other side.
enum class CatmullRomEnds : std::uint8_t { kDoubled = 0, kReflected = 1, kClosed = 2 };

/// Which of the Catmull-Rom curves through the points.
struct CatmullRomOptions {
  CatmullRomKnots knots = CatmullRomKnots::kUniform;  ///< how far apart the knots are
  CatmullRomEnds ends = CatmullRomEnds::kDoubled;     ///< what stands beyond the ends of an open curve
};

/// The uniform Catmull-Rom cubic from p1 (t = 0) to p2 (t = 1), with p0 before and p3 after them:
/// (2 p1 + (p2 - p0) t + (2 p0 - 5 p1 + 4 p2 - p3) t^2 + (3 p1 - p0 - 3 p2 + p3) t^3) / 2.
template <CurveVector V>
[[nodiscard]] V catmull_rom(const V& p0, const V& p1, const V& p2, const V& p3, double t) {
  return hermite_piece(p1, p2, V(0.5 * (p2 - p0)), V(0.5 * (p3 - p1))).position(t);
}

/// A curve through its points (E. Catmull, R. Rom, "A class of local interpolating splines", 1974; on uneven
/// knots P. Barry, R. Goldman, 1988). One segment between neighbours; the parameter counts segments, so that
/// position(i) is exactly point i. Tangent at a point: (v0 d1 + v1 d0) / (d0 + d1), with v the mean velocity
/// and d the time of the segment before and after it.
///
/// Smoothness: C1 in time. Time is the parameter itself with uniform knots; otherwise a segment takes
/// knot_interval() of it, and derivatives with respect to the parameter, which all functions here return, are
/// knot_interval() times those in time: their direction is continuous, their length steps.
///
/// Repeated points: with uniform knots nothing is special. With others, the shape is as though the point were
/// there once, and the segment between the two stays in place with zero derivatives (knot_interval() 0).
/// A closed curve whose last point repeats the first has it once.
///
/// A value; evaluation allocates nothing.
template <CurveVector V>
class CatmullRom {
 public:
  /// Fails on fewer than two points (closed: three, without a repeat of the first at the end) and on a
  /// coordinate that is not finite or larger than kLargestCoordinate.
  [[nodiscard]] static Result<CatmullRom> make(std::span<const V> points,
                                               const CatmullRomOptions& options = {});

  /// At a parameter; t counts segments.
  [[nodiscard]] V position(double t) const { return path_.position(t); }
  /// By t.
  [[nodiscard]] V derivative(double t) const { return path_.derivative(t); }
  /// By t, twice.
  [[nodiscard]] V second_derivative(double t) const { return path_.second_derivative(t); }
  /// Both at once.
  [[nodiscard]] CurvePoint<V> evaluate(double t) const { return path_.evaluate(t); }

  /// As many as there are stretches between points.
  [[nodiscard]] std::size_t segment_count() const { return path_.piece_count(); }
  /// How far apart the knots of a segment are, in the knots' own measure.
  [[nodiscard]] double knot_interval(std::size_t segment) const { return intervals_[segment]; }
  /// The same as pieces of cubics.
  [[nodiscard]] const CubicPath<V>& path() const { return path_; }

  /// n points a segment and the end: segment_count() x n + 1, every n-th exactly one of the points. n >= 1.
  [[nodiscard]] std::vector<V> subdivide(std::size_t n) const;

 private:
  CatmullRom(CubicPath<V> path, std::vector<double> intervals)
      : path_(std::move(path)), intervals_(std::move(intervals)) {}

  CubicPath<V> path_;
  std::vector<double> intervals_;
};

/// The curve's points, n to a segment: (count - 1) x n + 1 of them (closed: count x n + 1), the joints exact.
/// Fails as CatmullRom::make() does, and on n = 0.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> subdivide(std::span<const V> points, std::size_t n,
                                               const CatmullRomOptions& options = {});

}  // namespace reckoner
