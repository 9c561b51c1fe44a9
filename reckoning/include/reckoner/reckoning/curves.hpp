// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// The allowed point types of a curve: a number, a 2D vector or a 3D vector, in double precision.
template <class V>
concept CurveVector = std::same_as<V, double> || std::same_as<V, glm::dvec2> || std::same_as<V, glm::dvec3>;

/// The largest absolute coordinate that curves accept. It is far above any real coordinate, and its square is
/// still finite, so no sum or length inside a curve overflows.
inline constexpr double kLargestCoordinate = 1e100;

/// Two points whose distance is below this count as one point, because the square of such a distance
/// underflows.
inline constexpr double kSamePoint = 1e-150;

/// Vector operations that also work for plain numbers. GLM has no such functions for plain numbers.
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

/// Absolute value.
[[nodiscard]] inline double length(double a) {
  return std::abs(a);
}
/// Euclidean length.
[[nodiscard]] inline double length(const glm::dvec2& a) {
  return std::sqrt(dot(a, a));
}
/// Euclidean length.
[[nodiscard]] inline double length(const glm::dvec3& a) {
  return std::sqrt(dot(a, a));
}

/// True if the two points count as one point (kSamePoint).
template <CurveVector V>
[[nodiscard]] bool same(const V& a, const V& b) {
  return length(a - b) < kSamePoint;
}

/// True if the number is finite and its absolute value is at most kLargestCoordinate.
[[nodiscard]] inline bool usable(double a) {
  return std::abs(a) <= kLargestCoordinate;
}
/// True if every component is usable.
[[nodiscard]] inline bool usable(const glm::dvec2& a) {
  return usable(a.x) && usable(a.y);
}
/// True if every component is usable.
[[nodiscard]] inline bool usable(const glm::dvec3& a) {
  return usable(a.x) && usable(a.y) && usable(a.z);
}

/// Converts a number to a 3D vector along the x axis.
[[nodiscard]] inline glm::dvec3 to_space(double a) {
  return {a, 0.0, 0.0};
}
/// Converts a 2D vector to a 3D vector in the plane z = 0.
[[nodiscard]] inline glm::dvec3 to_space(const glm::dvec2& a) {
  return {a.x, a.y, 0.0};
}
/// Returns the 3D vector unchanged, so that templates work for all point types.
[[nodiscard]] inline glm::dvec3 to_space(const glm::dvec3& a) {
  return a;
}

/// Angle between two directions, rad, 0 to pi; 0 if one of them has length zero. Uses W. Kahan's half-angle
/// form, which is accurate near 0 and near pi, where acos of the dot product is inaccurate.
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

/// One cubic polynomial p(u) = c0 + c1 u + c2 u^2 + c3 u^3, with u from 0 to 1.
template <CurveVector V>
struct CubicPiece {
  V c0{0.0};  ///< coefficient of u^0
  V c1{0.0};  ///< coefficient of u^1
  V c2{0.0};  ///< coefficient of u^2
  V c3{0.0};  ///< coefficient of u^3

  /// Position at u.
  [[nodiscard]] V position(double u) const { return c0 + u * (c1 + u * (c2 + u * c3)); }
  /// First derivative with respect to u.
  [[nodiscard]] V derivative(double u) const { return c1 + u * (2.0 * c2 + u * (3.0 * c3)); }
  /// Second derivative with respect to u.
  [[nodiscard]] V second_derivative(double u) const { return 2.0 * c2 + u * (6.0 * c3); }
  /// True if all points of the piece are the same.
  [[nodiscard]] bool is_constant() const {
    const V zero(0.0);
    return c1 == zero && c2 == zero && c3 == zero;
  }
};

/// The Hermite cubic from `p0` to `p1`, with derivative `m0` at the start and `m1` at the end.
template <CurveVector V>
[[nodiscard]] CubicPiece<V> hermite_piece(const V& p0, const V& p1, const V& m0, const V& m1) {
  const V step = p1 - p0;
  return {p0, m0, 3.0 * step - 2.0 * m0 - m1, m0 + m1 - 2.0 * step};
}

/// A position on a curve and the derivative with respect to the curve's parameter.
template <CurveVector V>
struct CurvePoint {
  V position{0.0};    ///< in the unit of the curve's points
  V derivative{0.0};  ///< per unit of the parameter
};

/// A sequence of joined cubic pieces. Every curve in this library is converted to this form, and arc length,
/// headings and nearest points are computed on it. Each curve class returns this form as `path()`.
///
/// The parameter counts pieces, from 0 to piece_count(). At a whole number the position is exactly the joint
/// between two pieces, and at the last one it is exactly the end of the path. Derivatives at a joint are
/// taken from the piece that starts there. At the end of an open path they are taken from the last piece. A
/// parameter outside the range counts as the nearest end, and NaN counts as the start.
///
/// A value. Evaluation allocates nothing. Const use from several threads is safe.
template <CurveVector V>
class CubicPath {
 public:
  /// `pieces`: at least one. `end`: the exact end point of the last piece. `closed`: true if the path ends
  /// where it starts.
  CubicPath(std::vector<CubicPiece<V>> pieces, const V& end, bool closed)
      : pieces_(std::move(pieces)), closed_(closed) {
    assert(!pieces_.empty());
    // An extra piece that is only evaluated at its start. It makes the end exact without a branch.
    const CubicPiece<V> last = closed ? pieces_.front() : pieces_.back();
    CubicPiece<V> tail{end, last.c1, last.c2, last.c3};
    if (!closed) {
      tail.c1 = last.derivative(1.0);
      tail.c2 = last.c2 + 3.0 * last.c3;
    }
    pieces_.push_back(tail);
    end_ = static_cast<double>(piece_count());
  }

  /// The number of pieces; also the largest parameter.
  [[nodiscard]] std::size_t piece_count() const { return pieces_.size() - 1; }
  /// The parameter at the end. The parameter starts at 0 and increases by 1 per piece.
  [[nodiscard]] double end_parameter() const { return end_; }
  /// True if the path ends where it starts.
  [[nodiscard]] bool closed() const { return closed_; }
  /// All pieces in order. The span is valid as long as the path.
  [[nodiscard]] std::span<const CubicPiece<V>> pieces() const { return {pieces_.data(), piece_count()}; }

  /// Position at a parameter. Outside the range it is the position of the nearest end.
  [[nodiscard]] V position(double parameter) const {
    const Location at = locate(parameter);
    return at.piece->position(at.u);
  }
  /// First derivative with respect to the parameter.
  [[nodiscard]] V derivative(double parameter) const {
    const Location at = locate(parameter);
    return at.piece->derivative(at.u);
  }
  /// Second derivative with respect to the parameter.
  [[nodiscard]] V second_derivative(double parameter) const {
    const Location at = locate(parameter);
    return at.piece->second_derivative(at.u);
  }
  /// Position and first derivative together, with a single look-up.
  [[nodiscard]] CurvePoint<V> evaluate(double parameter) const {
    const Location at = locate(parameter);
    return {at.piece->position(at.u), at.piece->derivative(at.u)};
  }

 private:
  struct Location {
    const CubicPiece<V>* piece;
    double u;
  };

  [[nodiscard]] Location locate(double parameter) const {
    double t = parameter > 0.0 ? parameter : 0.0;  // NaN gives 0
    t = t < end_ ? t : end_;
    const auto index = static_cast<std::int64_t>(t);
    return {pieces_.data() + index, t - static_cast<double>(index)};
  }

  std::vector<CubicPiece<V>> pieces_;  // including the extra piece at the end
  double end_ = 0.0;
  bool closed_ = false;
};

/// Straight lines between neighbouring points; if `closed`, also from the last point to the first. A single
/// point gives a constant path. Fails if there are no points, or if a coordinate is not finite or larger than
/// kLargestCoordinate.
template <CurveVector V>
[[nodiscard]] Result<CubicPath<V>> polyline_path(std::span<const V> points, bool closed);

/// The quadratic B-spline with the points as control polygon, which is the limit of Chaikin's corner cutting.
/// It is C1 everywhere and touches the middle of every edge. An open spline begins with a straight line from
/// the first point to the middle of the first edge. It ends with a straight line from the middle of the last
/// edge to the last point. Fewer than three points give straight lines. Fails under the same conditions as
/// polyline_path().
template <CurveVector V>
[[nodiscard]] Result<CubicPath<V>> quadratic_b_spline_path(std::span<const V> points, bool closed);

/// Checks the points of a curve. Returns an error message if there are fewer than `least` points, or if a
/// coordinate is not finite or larger than kLargestCoordinate. Returns an empty string if the points are
/// valid.
template <CurveVector V>
[[nodiscard]] std::string points_error(std::span<const V> points, std::size_t least);

/// The point on a path that is nearest to a given point.
template <CurveVector V>
struct NearestPoint {
  double parameter = 0.0;  ///< parameter of the path
  V position{0.0};         ///< position on the path
  double distance = 0.0;   ///< distance between the two points, in the path's unit
};

/// The point of `path` that is nearest to `point`, between the parameters `from` and `to`; by default on the
/// whole path.
///
/// The search is global: it needs no start value and never returns a minimum that is only local. The squared
/// distance to a cubic is a polynomial of degree 6. Its Bernstein coefficients give a lower bound, so a piece
/// that cannot improve the best result is skipped. The derivative of the polynomial also has Bernstein
/// coefficients. The number of their sign changes shows whether an interval contains no minimum, one minimum
/// or perhaps several. Bracketed Newton iteration finds a single minimum. An interval with perhaps several is
/// halved (after T. Sederberg, T. Nishita, "Curve intersection using Bézier clipping", 1990).
///
/// Where the distance has a sharp minimum, the parameter is exact to about 1e-9 of a piece. The distance is
/// exact to a relative error of about 1e-12. If several points are equally near, one of them is returned.
///
/// `point` must be finite. Allocates nothing. The cost is proportional to the number of pieces in the range,
/// plus about 100 ns for each piece that is close to `point`.
template <CurveVector V>
[[nodiscard]] NearestPoint<V> nearest(const CubicPath<V>& path, const V& point, double from = 0.0,
                                      double to = std::numeric_limits<double>::infinity());

inline constexpr double kDefaultArcTolerance = 1e-4;  ///< Default tolerance of ArcLengthTable, m.

/// Converts between the parameter of a path and the distance along it.
///
/// The path is halved repeatedly until each part is accurate enough. Two checks decide whether a part is
/// accurate enough. The first check computes the length by Gauss-Legendre quadrature with five points, and
/// compares it with the sum of the lengths of the two halves. The second check tests the two interpolations:
/// distance from parameter, and parameter from distance. With these checks, the error of distance_at() is
/// below tolerance() everywhere on the path. The true distance at parameter_at(d) differs from d by less than
/// tolerance(). Both functions are continuous and never decrease, because the slopes of the Hermite cubics
/// are limited (F. Fritsch, R. Carlson, "Monotone piecewise cubic interpolation", 1980).
///
/// Arguments outside the range count as the nearest end, and NaN counts as the start. The table keeps no
/// reference to the path. A look-up allocates nothing. Const use from several threads is safe.
class RECKONER_RECKONING_API ArcLengthTable {
 public:
  /// Makes the table of `path`. `tolerance` is the largest error, > 0, in the path's unit. Values below 1e-12
  /// times the path's length are raised to this limit, because double precision allows no more. Fails if
  /// `tolerance` is not positive and finite.
  template <CurveVector V>
  [[nodiscard]] static Result<ArcLengthTable> make(const CubicPath<V>& path,
                                                   double tolerance = kDefaultArcTolerance);

  /// Length of the whole path, in its unit.
  [[nodiscard]] double length() const { return length_; }
  /// The tolerance in force, in the path's unit. It is the tolerance given to make(), or the limit of double
  /// precision if that is larger.
  [[nodiscard]] double tolerance() const { return tolerance_; }
  /// The number of parts into which the path was divided.
  [[nodiscard]] std::size_t part_count() const { return parts_.size() - 1; }

  /// Distance along the path from its start to `parameter`, in the path's unit.
  [[nodiscard]] double distance_at(double parameter) const;

  /// The parameter at `distance` from the start. Where the path stays at one point for a range of parameters,
  /// the function returns the end of that range. But distance 0 always gives parameter 0, and the distance
  /// length() always gives the last parameter.
  [[nodiscard]] double parameter_at(double distance) const {
    if (!(distance > 0.0)) return 0.0;
    if (distance >= length_) return end_;
    // The buckets limit the search to the few parts that begin in the same slice of distance.
    const auto bucket = static_cast<std::int64_t>(distance * buckets_per_unit_);
    const Part* part = parts_.data() + bucket_[static_cast<std::size_t>(bucket)];
    const Part* last = parts_.data() + bucket_[static_cast<std::size_t>(bucket) + 1];
    while (part < last) {
      const Part* middle = part + (last - part + 1) / 2;
      if (middle->distance <= distance) {
        part = middle;
      } else {
        last = middle - 1;
      }
    }
    const double x = distance - part->distance;
    const double t = part->parameter + x * (part->p1 + x * (part->p2 + x * part->p3));
    const double next = part[1].parameter;
    return t < next ? t : next;
  }

 private:
  // One part of the path. It begins at `distance` and `parameter`. At the distance x after its beginning, the
  // parameter is the cubic parameter + p1 x + p2 x^2 + p3 x^3. At the parameter y after its beginning, the
  // distance is the cubic distance + d1 y + d2 y^2 + d3 y^3.
  struct Part {
    double distance = 0.0;
    double parameter = 0.0;
    double p1 = 0.0, p2 = 0.0, p3 = 0.0;
    double d1 = 0.0, d2 = 0.0, d3 = 0.0;
  };
  template <CurveVector V>
  friend class ArcLengthBuilder;

  ArcLengthTable() = default;
  void finish(double tolerance, std::size_t piece_count);

  std::vector<Part> parts_;  // in order, plus an end marker
  // For each slice of distance, the index of the part in which the slice begins; then an end marker.
  std::vector<std::uint32_t> bucket_;
  std::vector<std::uint32_t> piece_begin_;  // index of the first part of each piece, plus an end marker
  double buckets_per_unit_ = 0.0;
  double length_ = 0.0;
  double end_ = 0.0;
  double tolerance_ = 0.0;
};

/// Unit vector of the direction of travel at a parameter. Where the derivative is zero (a cusp or a stop), it
/// is the direction in which the path continues. At the end of the path it is the direction in which the path
/// arrives. Zero if the path is a single point.
template <CurveVector V>
[[nodiscard]] V unit_tangent(const CubicPath<V>& path, double parameter);

/// The position at a distance along the path, and the derivative with respect to distance, which is
/// unit_tangent(). So a body whose distance is speed x time moves at constant speed. `arc` must be the table
/// of `path`.
template <CurveVector V>
[[nodiscard]] CurvePoint<V> at_distance(const CubicPath<V>& path, const ArcLengthTable& arc,
                                        double distance) {
  const double parameter = arc.parameter_at(distance);
  return {path.position(parameter), unit_tangent(path, parameter)};
}

/// The second derivative with respect to distance at a parameter: a vector of length 1/radius towards the
/// centre of curvature. Zero where the first derivative is zero.
template <CurveVector V>
[[nodiscard]] V curvature(const CubicPath<V>& path, double parameter);

/// A direction as two angles, rad, in a right-handed world whose z axis points up.
struct Heading {
  double yaw = 0.0;    ///< about the z axis, from the x axis towards the y axis, -pi to pi
  double pitch = 0.0;  ///< upwards, -pi/2 to pi/2
};

/// The yaw and pitch of a direction, which may have any length. Both angles are 0 for the zero vector. Yaw is
/// 0 for a vertical direction. In the Euler angles of DIS (IEEE 1278.1), psi = yaw and theta = -pitch.
[[nodiscard]] RECKONER_RECKONING_API Heading heading_of(const glm::dvec3& direction);

/// The orientation (body to world) of a body whose x axis points along the heading and which does not roll:
/// Rz(yaw) Ry(-pitch). The body's z axis points up.
[[nodiscard]] RECKONER_RECKONING_API glm::dquat orientation_of(const Heading& heading);

/// Three perpendicular unit vectors, right-handed: tangent x left = up.
struct RECKONER_RECKONING_API TangentFrame {
  glm::dvec3 tangent{1.0, 0.0, 0.0};  ///< forward, unit
  glm::dvec3 left{0.0, 1.0, 0.0};     ///< unit
  glm::dvec3 up{0.0, 0.0, 1.0};       ///< unit

  /// The orientation (body to world) of a body whose x, y and z axes are tangent, left and up.
  [[nodiscard]] glm::dquat orientation() const;
};

/// The frame with this `tangent` (unit) whose up vector is as close to `reference` as possible. If `tangent`
/// and `reference` are parallel, the result is any frame with this tangent.
[[nodiscard]] RECKONER_RECKONING_API TangentFrame frame_towards(const glm::dvec3& tangent,
                                                                const glm::dvec3& reference);

/// Moves `frame` from the point `from` to the point `to`, where the tangent is `tangent`, with as little
/// rotation about the tangent as possible. Uses the double reflection method, which is of fourth order in the
/// step (W. Wang, B. Jüttler, D. Zheng, Y. Liu, "Computation of rotation minimizing frames", 2008). If `from`
/// and `to` are the same point, the function applies the shortest rotation from the old tangent to the new
/// tangent. If the tangent reverses there, it rotates about up.
[[nodiscard]] RECKONER_RECKONING_API TangentFrame transport_frame(const TangentFrame& frame,
                                                                  const glm::dvec3& from,
                                                                  const glm::dvec3& to,
                                                                  const glm::dvec3& tangent);

/// How a FrameTable computes its frames.
struct FrameOptions {
  /// The up vector of the first frame is as close to this direction as possible.
  glm::dvec3 up{0.0, 0.0, 1.0};
  /// Largest turn of the tangent between two stored frames, rad; the error grows with the fourth power of
  /// this angle.
  double largest_turn = 0.05;
  /// On a closed path, the last frame is the first frame rotated about the tangent by some angle. If true,
  /// the table removes this angle by a small roll, which is spread evenly along the path. Then the last frame
  /// equals the first.
  bool close = true;
};

/// Rotation-minimising frames along a path. They do not roll. They never flip, unlike frames from a fixed up
/// vector or from the curve's normal (Frenet frames). Frames are stored along the path, and each frame is
/// computed from the frame before it. So the result is continuous in the parameter wherever the tangent is
/// continuous. At a corner the frame takes the shortest rotation. A value; evaluation allocates nothing.
class RECKONER_RECKONING_API FrameTable {
 public:
  /// `arc` must be the table of `path`. FrameOptions::largest_turn is limited to the range from 1e-3 to 1
  /// rad.
  FrameTable(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc, const FrameOptions& options = {});

  /// The frame at a parameter. Pass the `path` and `arc` that were passed to the constructor.
  [[nodiscard]] TangentFrame frame(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc,
                                   double parameter) const;

  /// The roll per distance that FrameOptions::close added, rad/m. 0 if the path is open.
  [[nodiscard]] double closing_roll_rate() const { return roll_rate_; }

 private:
  struct Node {
    double parameter;
    glm::dvec3 position;
    TangentFrame frame;
  };
  std::vector<Node> nodes_;
  double roll_rate_ = 0.0;
};

/// The knot interval between two points. Centripetal knots give neither cusps nor loops inside a segment (C.
/// Yuksel, S. Schaefer, J. Keyser, "Parameterization and applications of Catmull-Rom curves", 2011).
enum class CatmullRomKnots : std::uint8_t {
  uniform = 0,      ///< 1
  centripetal = 1,  ///< the square root of the distance between the points
  chordal = 2,      ///< the distance between the points
};

/// The extra point that the curve needs before its first point, and the one after its last point. With
/// centripetal or chordal knots, a doubled or reflected point gets the knot interval between the end point
/// and its neighbour.
enum class CatmullRomEnds : std::uint8_t {
  doubled = 0,    ///< the end point again
  reflected = 1,  ///< the neighbour of the end point, mirrored at the end point
  closed = 2,     ///< the point at the other end of the curve
};

/// Options of a Catmull-Rom curve.
struct CatmullRomOptions {
  CatmullRomKnots knots = CatmullRomKnots::uniform;  ///< the interval between knots
  CatmullRomEnds ends = CatmullRomEnds::doubled;     ///< the extra points beyond the ends
};

/// The uniform Catmull-Rom cubic from p1 (t = 0) to p2 (t = 1), with p0 before and p3 after them:
/// (2 p1 + (p2 - p0) t + (2 p0 - 5 p1 + 4 p2 - p3) t^2 + (3 p1 - p0 - 3 p2 + p3) t^3) / 2.
template <CurveVector V>
[[nodiscard]] V catmull_rom(const V& p0, const V& p1, const V& p2, const V& p3, double t) {
  return hermite_piece(p1, p2, V(0.5 * (p2 - p0)), V(0.5 * (p3 - p1))).position(t);
}

/// A Catmull-Rom curve, which passes through its points (E. Catmull, R. Rom, "A class of local interpolating
/// splines", 1974; uneven knots: P. Barry, R. Goldman, 1988). There is one segment between any two
/// neighbouring points. The parameter counts segments, so position(i) is exactly point i. The tangent at a
/// point is (v0 d1 + v1 d0) / (d0 + d1). Here v0 and v1 are the mean velocities of the segments before and
/// after the point, and d0 and d1 are the knot intervals of these two segments.
///
/// The curve is C1 in time. With uniform knots, time is the parameter. With other knots, segment i lasts
/// knot_interval(i). All functions return derivatives with respect to the parameter, which are
/// knot_interval() times the derivatives in time. So the direction of the first derivative is continuous, but
/// its length may jump at the points.
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

  /// Points on the curve: `n` (>= 1) points per segment and the end point, segment_count() x n + 1 points in
  /// total. The first of them and every n-th after it are exactly the points that the curve was made from.
  [[nodiscard]] std::vector<V> subdivide(std::size_t n) const;

 private:
  CatmullRom(CubicPath<V> path, std::vector<double> intervals)
      : path_(std::move(path)), intervals_(std::move(intervals)) {}

  CubicPath<V> path_;
  std::vector<double> intervals_;
};

/// Points on the Catmull-Rom curve through `points`: `n` points per segment and the end point. From k given
/// points an open curve gives (k - 1) x n + 1 points, and a closed curve gives k x n + 1 points. The result
/// contains the given points exactly. Fails like CatmullRom::make(), and if n is 0.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> subdivide(std::span<const V> points, std::size_t n,
                                               const CatmullRomOptions& options = {});

/// Default angle limit, rad: 30 degrees.
inline constexpr double kDefaultAngleLimit = 0.52359877559829887308;
/// Default outlier limit, rad: 90 degrees.
inline constexpr double kDefaultOutlierLimit = 1.57079632679489661923;
/// The largest number of corner-cutting passes.
inline constexpr int kMaxChaikinPasses = 16;

/// Options of chaikin().
struct ChaikinOptions {
  int passes = 1;       ///< 0 to kMaxChaikinPasses; each pass about doubles the number of points
  bool closed = false;  ///< true: the last point is joined to the first
  /// If set, only corners that turn by at least this angle (rad, 0 to pi) are cut; all other points stay.
  std::optional<double> angle_limit;
  /// If set, spikes are removed before the first pass; see reject_outliers(). The limit is in rad, above 0
  /// and below pi.
  std::optional<double> outlier_limit;
  /// If a pass gives more points than this, chaikin() fails.
  std::size_t max_points = std::size_t{1} << 22;
};

/// Corner cutting (G. Chaikin, "An algorithm for high speed curve generation", 1974). One pass replaces every
/// edge by two points: the edge from p to p' by Q = 3/4 p + 1/4 p' and R = 1/4 p + 3/4 p'. An open line also
/// keeps its end points, before the first Q and after the last R. So n points become 2n points, whether the
/// line is closed or open.
///
/// With an angle limit a pass treats each corner separately. If the line turns at a point by at least the
/// limit, the pass replaces the point by two others: the R of the edge before it and the Q of the edge after
/// it. All other points stay, and so do the ends of an open line. So a straight line gains no points, and
/// passes change nothing once all turns are below the limit.
///
/// A point that repeats the point before it is ignored. In a closed line, a last point that repeats the first
/// point is ignored, too. If fewer than three points remain, they are the result. Fails if a coordinate is
/// not finite or larger than kLargestCoordinate, if an option is out of range, or if the result would have
/// more than `max_points` points.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> chaikin(std::span<const V> points, const ChaikinOptions& options = {});

/// Removes spikes: single points to which the path jumps and from which it returns. A point p is removed if
/// - the heading turns by more than `limit` at p, and
/// - the path returns: if p is left out, the path turns by at most limit/2 at each of p's two neighbours.
///
/// If there are several such points, the point with the sharpest turn is removed first; then all points are
/// checked again.
///
/// A real corner stays, however sharp it is. If the path enters and leaves a corner in straight lines, the
/// two turns of the second condition add up to at least the turn at p. So one of them exceeds limit/2. If one
/// neighbour of p is the end of an open path, the path has no turn there. In this case the path with p must
/// also turn by more than limit/2 at the other neighbour. This is true for a spike and false for a corner.
///
/// Nothing is removed from fewer than four points (closed: five). Neighbours that coincide after p is removed
/// become one point. Spikes of two or more points stay.
///
/// The caller must pass finite coordinates that are not larger than kLargestCoordinate, and no point that
/// repeats the point before it. chaikin() ensures this. The time is proportional to the number of points
/// times the number of removed points.
template <CurveVector V>
[[nodiscard]] std::vector<V> reject_outliers(std::vector<V> points, bool closed,
                                             double limit = kDefaultOutlierLimit);

/// How motion speeds up and slows down along a segment between two keys: parabolic over the first share
/// `ease_from`, linear in the middle, parabolic over the last share `ease_to`. The function is C1, rises from
/// 0 at t = 0 to 1 at t = 1 and never decreases. With a = ease_from, b = ease_to (both scaled to a sum of 1
/// if their sum is larger) and k = 1/(2 - a - b):
///   t < a: k t^2/a;   t < 1 - b: k (2t - a);   else 1 - k (1 - t)^2/b.
/// In 3D Studio, a is the parameter "ease from" of the segment's first key, and b is the parameter "ease to"
/// of its last key.
class RECKONER_RECKONING_API Easing {
 public:
  /// No easing: value(t) = t.
  Easing() = default;

  /// Both shares are 0 to 1. A value outside this range counts as the nearest limit, and NaN counts as 0.
  Easing(double ease_from, double ease_to);

  /// The eased value at `t`. Values of t outside 0 to 1 count as the nearest limit.
  [[nodiscard]] double value(double t) const;
  [[nodiscard]] double rate(double t) const;         ///< first derivative
  [[nodiscard]] double second_rate(double t) const;  ///< second derivative; it jumps at a and at 1 - b
  [[nodiscard]] double inverse(double value) const;  ///< the t at which value(t) is `value`

 private:
  double a_ = 0.0;
  double b_ = 0.0;
  double k_ = 0.5;
};

/// The shape parameters of a key. The usual range is -1 to 1; any finite number is accepted.
struct TcbShape {
  double tension = 0.0;  ///< 1: tight, the curve stops at the key; -1: loose
  /// 0: smooth; otherwise the curve has a corner at the key. TcbSpline explains the sign.
  double continuity = 0.0;
  /// 1: the curve overshoots, because it continues the incoming direction. -1: it undershoots, because it
  /// anticipates the outgoing direction.
  double bias = 0.0;
};

/// A key has an incoming and an outgoing tangent. Each tangent is a weighted sum of two steps: the step
/// before the key (p_i - p_i-1) and the step after it (p_i+1 - p_i). These are the weights. The paper cited
/// at tcb_weights() calls the incoming tangent the source derivative and the outgoing tangent the destination
/// derivative.
struct TcbWeights {
  double in_before = 0.5;   ///< weight of the step before, in the incoming tangent
  double in_after = 0.5;    ///< weight of the step after, in the incoming tangent
  double out_before = 0.5;  ///< weight of the step before, in the outgoing tangent
  double out_after = 0.5;   ///< weight of the step after, in the outgoing tangent
};

/// The weights of a key (D. Kochanek, R. Bartels, "Interpolating splines with local tension, continuity, and
/// bias control", 1984), with t, c, b for tension, continuity and bias:
///   in:  (1-t)(1-c)(1+b)/2 (p_i - p_i-1) + (1-t)(1+c)(1-b)/2 (p_i+1 - p_i)
///   out: (1-t)(1+c)(1+b)/2 (p_i - p_i-1) + (1-t)(1-c)(1-b)/2 (p_i+1 - p_i)
/// The paper's correction for uneven key times is applied: `in` is multiplied by 2 before/(before + after)
/// and `out` by 2 after/(before + after). `before` and `after` are the durations of the segments before and
/// after the key, > 0. So the velocity in time is the same on both sides whenever continuity is 0.
[[nodiscard]] RECKONER_RECKONING_API TcbWeights tcb_weights(const TcbShape& shape, double before,
                                                            double after);

/// A point that the curve passes at a given time, and the shape of the curve there.
template <CurveVector V>
struct TcbKey {
  double time = 0.0;       ///< s, or any other unit; must increase from key to key
  V value{0.0};            ///< the point on the curve
  TcbShape shape{};        ///< the shape of the curve at the key
  double ease_to = 0.0;    ///< 0 to 1: share of the segment before the key in which motion slows down
  double ease_from = 0.0;  ///< 0 to 1: share of the segment after the key in which motion speeds up
};

/// Options of a TcbSpline.
struct TcbOptions {
  /// If set, the curve is closed, and this is the time from the last key back to the first, > 0.
  std::optional<double> closing_time;
};

/// A Kochanek-Bartels (TCB) spline: keys joined by Hermite cubics.
///
/// Continuity has the sign that the paper gives it (see tcb_weights()). Some tutorials and programs have
/// (1+c) where the paper has (1-c); negate continuity to get their curve. Keys with all shape parameters 0
/// give Catmull-Rom tangents.
///
/// Ends: the first key's outgoing tangent is (1.5 (p1 - p0) - 0.5 in(p1)) (1 - tension). Here in(p1) is the
/// incoming tangent of the second key. The last key's incoming tangent is given by the mirrored formula. With
/// only two keys both tangents are (p1 - p0)(1 - tension). A single key gives a constant.
///
/// Easing changes the times at which the curve reaches its points. It does not change the shape, and path()
/// has no easing. Times outside the range count as the nearest end, and NaN counts as the start. A value;
/// evaluation allocates nothing.
template <CurveVector V>
class TcbSpline {
 public:
  /// Fails if there are no keys (closed: fewer than three), if times do not increase, if an easing is outside
  /// 0 to 1, or if a number is not finite or too large. Two keys with the same value are allowed.
  [[nodiscard]] static Result<TcbSpline> make(std::span<const TcbKey<V>> keys,
                                              const TcbOptions& options = {});

  /// Position at a time, in the unit of the key times.
  [[nodiscard]] V position(double time) const { return path_.position(path_parameter(time)); }
  [[nodiscard]] V velocity(double time) const;      ///< first derivative with respect to time
  [[nodiscard]] V acceleration(double time) const;  ///< second derivative with respect to time
  /// The time of the first key.
  [[nodiscard]] double start_time() const { return times_.front(); }
  /// The time of the last key. For a closed curve, the time at which it reaches the first key again.
  [[nodiscard]] double end_time() const { return times_.back(); }
  /// The key times, increasing; for a closed curve the last one is end_time().
  [[nodiscard]] std::span<const double> times() const { return times_; }

  /// The shape of the curve without easing. Its parameter counts segments; convert with path_parameter() and
  /// time_at().
  [[nodiscard]] const CubicPath<V>& path() const { return path_; }
  /// The parameter of path() at a time.
  [[nodiscard]] double path_parameter(double time) const;
  /// The time at a parameter of path().
  [[nodiscard]] double time_at(double path_parameter) const;

 private:
  struct Segment {
    double start = 0.0;
    double duration = 0.0;
    Easing easing;
  };
  struct Location {
    std::size_t index;
    double u;
  };

  TcbSpline(CubicPath<V> path, std::vector<double> times, std::vector<Segment> segments)
      : path_(std::move(path)), times_(std::move(times)), segments_(std::move(segments)) {}
  [[nodiscard]] Location locate(double time) const;

  CubicPath<V> path_;
  std::vector<double> times_;  // one more than segments; a single key has one time and no segment
  std::vector<Segment> segments_;
};

/// An orientation at a given time, and the shape of the curve there.
struct OrientationKey {
  double time = 0.0;                           ///< must increase from key to key
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< body to world; normalised by make()
  TcbShape shape{};                            ///< the shape of the curve at the key
  double ease_to = 0.0;    ///< 0 to 1: share of the segment before the key in which rotation slows down
  double ease_from = 0.0;  ///< 0 to 1: share of the segment after the key in which rotation speeds up
};

/// A Kochanek-Bartels spline of orientations. The steps between keys are rotation vectors in body axes, along
/// the shorter rotation; q and -q are the same key. A rotation of more than half a revolution needs a key in
/// between. The tangents, also at the ends, are computed from these steps by the formulas of TcbSpline.
///
/// Each segment is the cubic Bézier curve of rotations q0 exp(w1 b1(u)) exp(w2 b2(u)) exp(w3 b3(u)) with
/// cumulative Bernstein weights (M. Kim, M. Kim, S. Shin, "A general construction scheme for unit quaternion
/// curves", 1995). It matches the tangents exactly: angular velocity is continuous at a key with continuity 0
/// and no easing. If all rotations have the same axis, the result equals TcbSpline on the angle.
///
/// Times outside the range count as the nearest end, and NaN counts as the start. A value; evaluation
/// allocates nothing.
class RECKONER_RECKONING_API OrientationSpline {
 public:
  /// Fails if there are no keys, if times do not increase, if an easing is outside 0 to 1, if a quaternion is
  /// zero, or if a number is not finite.
  [[nodiscard]] static Result<OrientationSpline> make(std::span<const OrientationKey> keys);

  [[nodiscard]] glm::dquat orientation(double time) const;       ///< unit, body to world
  [[nodiscard]] glm::dvec3 angular_velocity(double time) const;  ///< rad per unit of time, world axes
  /// The time of the first key.
  [[nodiscard]] double start_time() const { return start_; }
  /// The time of the last key.
  [[nodiscard]] double end_time() const { return end_; }

 private:
  struct Segment {
    double start = 0.0;
    double duration = 0.0;
    Easing easing;
    glm::dquat from{1.0, 0.0, 0.0, 0.0};
    glm::dvec3 w1{0.0};  // rotation vectors, body axes
    glm::dvec3 w2{0.0};
    glm::dvec3 w3{0.0};
  };
  struct Location {
    const Segment* segment;
    double u;
  };

  OrientationSpline() = default;
  [[nodiscard]] Location locate(double time) const;

  std::vector<Segment> segments_;  // empty if there is a single key
  glm::dquat last_{1.0, 0.0, 0.0, 0.0};
  double start_ = 0.0;
  double end_ = 0.0;
};

}  // namespace reckoner
