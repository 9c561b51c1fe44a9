// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Two points closer than this count as one point: below it the square of their distance underflows.
inline constexpr double kSamePoint = 1e-150;

/// Vector operations that also work for plain numbers, for which GLM has none.
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
/// form, which is accurate near 0 and near pi, where acos of the dot product is not.
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
/// headings and nearest points are computed on it. Each curve class returns its own as `path()`.
///
/// The parameter counts pieces, from 0 to piece_count(). At a whole number the position is exactly the joint,
/// also at the end. Derivatives at a joint are those of the piece that starts there, or of the last piece at
/// the end of an open path. A parameter outside the range counts as the nearest end, NaN as the start.
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

  /// Position at a parameter; outside the range it is that of the nearest end.
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

/// Straight lines between neighbouring points; if `closed`, also from the last to the first. A single point
/// gives a constant path. Fails if there are no points, or if a coordinate is not finite or larger than
/// kLargestCoordinate.
template <CurveVector V>
[[nodiscard]] Result<CubicPath<V>> polyline_path(std::span<const V> points, bool closed);

/// The quadratic B-spline with the points as control polygon, which is the limit of Chaikin's corner cutting.
/// It is C1 everywhere and touches the middle of every edge. An open one begins and ends at the end points,
/// with straight lines to the middle of the first edge and from the middle of the last. Fewer than three
/// points give straight lines. Fails under the same conditions as polyline_path().
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
/// The search is global: it needs no start value and never returns a mere local minimum. The squared distance
/// to a cubic is a polynomial of degree 6. Its Bernstein coefficients give a lower bound, so a piece that
/// cannot improve the best result is skipped. The sign changes of the coefficients of its derivative show
/// whether an interval contains a single minimum; bracketed Newton iteration then finds it. Every other
/// interval is halved (after T. Sederberg, T. Nishita, "Curve intersection using Bézier clipping", 1990).
///
/// Where the distance has a sharp minimum, the parameter is exact to about 1e-9 of a piece. The distance is
/// exact to a relative error of about 1e-12. If several points are equally near, one of them is returned.
///
/// `point` must be finite. Allocates nothing. The cost is proportional to the pieces in the range, plus some
/// 100 ns for each piece that comes close.
template <CurveVector V>
[[nodiscard]] NearestPoint<V> nearest(const CubicPath<V>& path, const V& point, double from = 0.0,
                                      double to = std::numeric_limits<double>::infinity());

inline constexpr double kDefaultArcTolerance = 1e-4;  ///< Default tolerance of ArcLengthTable, m.

/// Converts between the parameter of a path and the distance along it.
///
/// The path is halved repeatedly until each part is accurate enough. Two things are checked on a part: its
/// length (Gauss-Legendre with five points, compared with the sum of its halves), and the two interpolations
/// (distance from parameter and parameter from distance). So everywhere on the path the error of
/// distance_at() stays below tolerance(), and parameter_at(d) is at a true distance that differs from d by
/// less than tolerance(). Both functions are continuous and never decrease: the slopes of the Hermite cubics
/// are limited after F. Fritsch, R. Carlson, "Monotone piecewise cubic interpolation", 1980.
///
/// Arguments outside the range count as the nearest end, NaN as the start. The table keeps no reference to
/// the path. A look-up allocates nothing. Const use from several threads is safe.
class RECKONER_RECKONING_API ArcLengthTable {
 public:
  /// Makes the table of `path`. `tolerance` is the largest error, > 0, in the path's unit. Values below 1e-12
  /// of the path's length are raised to that, the limit of double precision. Fails if `tolerance` is not
  /// positive and finite.
  template <CurveVector V>
  [[nodiscard]] static Result<ArcLengthTable> make(const CubicPath<V>& path,
                                                   double tolerance = kDefaultArcTolerance);

  /// Length of the whole path, in its unit.
  [[nodiscard]] double length() const { return length_; }
  /// The tolerance in force, in the path's unit: as given, or raised to the limit of double precision.
  [[nodiscard]] double tolerance() const { return tolerance_; }
  /// The number of parts into which the path was divided.
  [[nodiscard]] std::size_t part_count() const { return parts_.size() - 1; }

  /// Distance along the path from its start to `parameter`, in the path's unit.
  [[nodiscard]] double distance_at(double parameter) const;

  /// The parameter at `distance` from the start. Where the path stays at one point for a range of parameters,
  /// it returns the end of that range; but distance 0 always gives 0, and length() the last parameter.
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
  // One part of the path. Its parameter is a cubic of x, the distance since `distance`: parameter + p1 x + p2
  // x^2 + p3 x^3. Its distance is a cubic of y, the parameter since `parameter`: distance + d1 y + d2 y^2 +
  // d3 y^3.
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
  // Index of the part in which each slice of distance begins, plus an end marker.
  std::vector<std::uint32_t> bucket_;
  std::vector<std::uint32_t> piece_begin_;  // index of the first part of each piece, plus an end marker
  double buckets_per_unit_ = 0.0;
  double length_ = 0.0;
  double end_ = 0.0;
  double tolerance_ = 0.0;
};

/// Unit vector of the direction of travel at a parameter. Where the derivative is zero (a cusp or a stop), it
/// is the direction in which the path continues; at the end of the path, the direction from which it arrived.
/// Zero for a path that is a single point.
template <CurveVector V>
[[nodiscard]] V unit_tangent(const CubicPath<V>& path, double parameter);

/// The position at a distance along the path, and the derivative with respect to distance, which is
/// unit_tangent(). So a body at distance speed x time moves at constant speed. `arc` must be the table of
/// `path`.
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
  double yaw = 0.0;    ///< about z, from the x towards the y axis, -pi to pi
  double pitch = 0.0;  ///< upwards, -pi/2 to pi/2
};

/// The angles of a direction of any length. Both are 0 for the zero vector; yaw is 0 for a vertical
/// direction. In DIS angles, psi = yaw and theta = -pitch.
[[nodiscard]] RECKONER_RECKONING_API Heading heading_of(const glm::dvec3& direction);

/// The orientation (body to world) of a body whose x axis points along the heading, without roll, with z up:
/// Rz(yaw) Ry(-pitch).
[[nodiscard]] RECKONER_RECKONING_API glm::dquat orientation_of(const Heading& heading);

/// Three perpendicular unit vectors, right-handed: tangent x left = up.
struct RECKONER_RECKONING_API TangentFrame {
  glm::dvec3 tangent{1.0, 0.0, 0.0};  ///< forward, unit
  glm::dvec3 left{0.0, 1.0, 0.0};     ///< unit
  glm::dvec3 up{0.0, 0.0, 1.0};       ///< unit

  /// The orientation (body to world) of a body whose x, y and z axes are tangent, left and up.
  [[nodiscard]] glm::dquat orientation() const;
};

/// The frame along `tangent` (unit) whose up is as close to `reference` as possible. If both are parallel,
/// any frame along `tangent`.
[[nodiscard]] RECKONER_RECKONING_API TangentFrame frame_towards(const glm::dvec3& tangent,
                                                                const glm::dvec3& reference);

/// Moves `frame` from the point `from` to the point `to`, where the tangent is `tangent`, with as little
/// rotation about the tangent as possible. It is the double reflection method, fourth order in the step: W.
/// Wang, B. Jüttler, D. Zheng, Y. Liu, "Computation of rotation minimizing frames" (2008). If `from` and `to`
/// are the same point, it applies the shortest rotation between the tangents; if the tangent reverses, a
/// rotation about up.
[[nodiscard]] RECKONER_RECKONING_API TangentFrame transport_frame(const TangentFrame& frame,
                                                                  const glm::dvec3& from,
                                                                  const glm::dvec3& to,
                                                                  const glm::dvec3& tangent);

/// How a FrameTable computes its frames.
struct FrameOptions {
  glm::dvec3 up{0.0, 0.0, 1.0};  ///< reference direction for up of the first frame
  /// Largest turn of the tangent between two stored frames, rad; the error grows with its fourth power.
  double largest_turn = 0.05;
  /// On a closed path the frame returns to the start rotated about the tangent. If true, this angle is
  /// distributed evenly along the path, so that the last frame equals the first.
  bool close = true;
};

/// Rotation-minimising frames along a path. They do not roll. They never flip, unlike frames from a fixed up
/// vector or from the curve's normal (Frenet frames). Frames are stored along the path, and each is computed
/// from the one before. So the result is continuous in the parameter wherever the tangent is. At a corner the
/// frame takes the shortest rotation. A value; evaluation allocates nothing.
class RECKONER_RECKONING_API FrameTable {
 public:
  /// `arc` must be the table of `path`. FrameOptions::largest_turn is limited to 1e-3 to 1 rad.
  FrameTable(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc, const FrameOptions& options = {});

  /// The frame at a parameter. `path` and `arc` must be those of the constructor.
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

}  // namespace reckoner
