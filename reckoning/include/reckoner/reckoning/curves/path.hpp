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

/// p(u) = c0 + c1 u + c2 u^2 + c3 u^3, u from 0 to 1.
template <CurveVector V>
struct CubicPiece {
  V c0{0.0};  ///< of u^0
  V c1{0.0};  ///< of u^1
  V c2{0.0};  ///< of u^2
  V c3{0.0};  ///< of u^3

  /// At u, 0 to 1 within the piece.
  [[nodiscard]] V position(double u) const { return c0 + u * (c1 + u * (c2 + u * c3)); }
  /// By u.
  [[nodiscard]] V derivative(double u) const { return c1 + u * (2.0 * c2 + u * (3.0 * c3)); }
  /// By u, twice.
  [[nodiscard]] V second_derivative(double u) const { return 2.0 * c2 + u * (6.0 * c3); }
  /// Whether it stands in one place.
  [[nodiscard]] bool is_constant() const {
    const V zero(0.0);
    return c1 == zero && c2 == zero && c3 == zero;
  }
};

/// The Hermite cubic from p0 to p1 that leaves with derivative m0 and arrives with m1.
template <CurveVector V>
[[nodiscard]] CubicPiece<V> hermite_piece(const V& p0, const V& p1, const V& m0, const V& m1) {
  const V step = p1 - p0;
  return {p0, m0, 3.0 * step - 2.0 * m0 - m1, m0 + m1 - 2.0 * step};
}

/// A place on a curve and the derivative there with respect to the curve's parameter.
template <CurveVector V>
struct CurvePoint {
  V position{0.0};    ///< in the curve's unit
  V derivative{0.0};  ///< by the parameter
};

/// A chain of cubics: the one shape that every curve here comes down to, and that arc length, headings and
/// nearest points are computed on. Each curve has its own as `path()`.
///
/// The parameter counts pieces: 0 to piece_count(). At a whole number the position is exactly the joint, the
/// end included, and derivatives are those of the piece that starts there (at the end of an open path, of the
/// last one). A parameter outside the range, or NaN, counts as the nearest end (NaN as the start).
///
/// A value. Evaluation allocates nothing. Const use from several threads is safe.
template <CurveVector V>
class CubicPath {
 public:
  /// `pieces`: at least one. `end`: where the last one ends, exactly. `closed`: the end is the start.
  CubicPath(std::vector<CubicPiece<V>> pieces, const V& end, bool closed)
      : pieces_(std::move(pieces)), closed_(closed) {
    assert(!pieces_.empty());
    // One more piece that is only ever evaluated at its beginning: it makes the end exact without a branch.
    const CubicPiece<V> last = closed ? pieces_.front() : pieces_.back();
    CubicPiece<V> tail{end, last.c1, last.c2, last.c3};
    if (!closed) {
      tail.c1 = last.derivative(1.0);
      tail.c2 = last.c2 + 3.0 * last.c3;
    }
    pieces_.push_back(tail);
    end_ = static_cast<double>(piece_count());
  }

  /// As many as the parameter counts.
  [[nodiscard]] std::size_t piece_count() const { return pieces_.size() - 1; }
  /// The parameter of the end: it begins at 0 and rises by 1 a piece.
  [[nodiscard]] double end_parameter() const { return end_; }
  /// Whether the end is the beginning.
  [[nodiscard]] bool closed() const { return closed_; }
  /// One behind the other; valid as long as the path.
  [[nodiscard]] std::span<const CubicPiece<V>> pieces() const { return {pieces_.data(), piece_count()}; }

  /// At a parameter; outside the path that of the nearest end.
  [[nodiscard]] V position(double parameter) const {
    const Place at = locate(parameter);
    return at.piece->position(at.u);
  }
  /// By the parameter.
  [[nodiscard]] V derivative(double parameter) const {
    const Place at = locate(parameter);
    return at.piece->derivative(at.u);
  }
  /// By the parameter, twice.
  [[nodiscard]] V second_derivative(double parameter) const {
    const Place at = locate(parameter);
    return at.piece->second_derivative(at.u);
  }
  /// Position and derivative together, for the price of one look-up.
  [[nodiscard]] CurvePoint<V> evaluate(double parameter) const {
    const Place at = locate(parameter);
    return {at.piece->position(at.u), at.piece->derivative(at.u)};
  }

 private:
  struct Place {
    const CubicPiece<V>* piece;
    double u;
  };

  [[nodiscard]] Place locate(double parameter) const {
    double t = parameter > 0.0 ? parameter : 0.0;  // false for NaN
    t = t < end_ ? t : end_;
    const auto index = static_cast<std::int64_t>(t);
    return {pieces_.data() + index, t - static_cast<double>(index)};
  }

  std::vector<CubicPiece<V>> pieces_;  // the tail included
  double end_ = 0.0;
  bool closed_ = false;
};

/// Straight lines from point to point; closed: and back to the first. One point gives a path that stays
/// there. Fails on no points and on a coordinate that is not finite or too large.
template <CurveVector V>
[[nodiscard]] Result<CubicPath<V>> polyline_path(std::span<const V> points, bool closed);

/// The quadratic B-spline of the points as control polygon: where Chaikin's corner cutting leads in the end.
/// C1 everywhere, tangent to the middle of every edge. An open one starts and ends at the end points,
/// straight to and from the middle of the first and last edge. Fails as polyline_path(); fewer than three
/// points give lines.
template <CurveVector V>
[[nodiscard]] Result<CubicPath<V>> quadratic_b_spline_path(std::span<const V> points, bool closed);

/// What is wrong with points that a curve is to be made from: fewer than `least`, or a coordinate that is not
/// finite or larger than kLargestCoordinate. Empty if nothing is.
template <CurveVector V>
[[nodiscard]] std::string points_error(std::span<const V> points, std::size_t least);

/// The place on a path that is nearest to a point.
template <CurveVector V>
struct NearestPoint {
  double parameter = 0.0;  ///< of the path
  V position{0.0};         ///< there
  double distance = 0.0;   ///< between the two
};

/// Where `path` comes nearest to `point`, between the parameters `from` and `to` (the whole path by default).
///
/// Global: no start value, and no local minimum is mistaken for it. The squared distance to a cubic is a
/// polynomial of degree 6; its Bernstein coefficients bound it from below, so that a piece which cannot beat
/// the best so far is left out, and the sign changes of those of its derivative say when a stretch holds one
/// minimum only, which Newton's method inside a bracket then finds; anything else is cut in two (after T.
/// Sederberg, T. Nishita, "Curve intersection using Bézier clipping", 1990). The parameter is exact to about
/// 1e-9 of a piece where the distance has a sharp minimum, the distance to about 1e-12 of its size. Of places
/// at the same distance, one is returned.
///
/// `point` must be finite. Allocates nothing. Cost: pieces in the range; some 100 ns for each that comes
/// close.
template <CurveVector V>
[[nodiscard]] NearestPoint<V> nearest(const CubicPath<V>& path, const V& point, double from = 0.0,
                                      double to = std::numeric_limits<double>::infinity());

inline constexpr double kDefaultArcTolerance = 1e-4;  ///< m

/// How far along a path a parameter is, and which parameter lies a distance along it.
///
/// The path is cut in two, again and again, until on every part both the length (Gauss-Legendre, five points,
/// against its halves) and the two interpolations between the part's ends, distance from parameter and
/// parameter from distance, are good. So the error of distance_at(t), and the true distance of
/// parameter_at(d) against d, stay below tolerance() anywhere on the path. Both are continuous and never fall
/// (the slopes of the Hermite cubics are limited after F. Fritsch, R. Carlson, "Monotone piecewise cubic
/// interpolation", 1980).
///
/// Arguments outside the range count as the nearest end, NaN as the start. Numbers only: it keeps no
/// reference to the path. Looking up allocates nothing; const use from several threads is safe.
class RECKONER_RECKONING_API ArcLengthTable {
 public:
  /// `tolerance`: > 0, in the path's unit. It is raised to 1e-12 of the path's length where it is less, which
  /// is what doubles can hold. Fails if it is not positive and finite.
  template <CurveVector V>
  [[nodiscard]] static Result<ArcLengthTable> make(const CubicPath<V>& path,
                                                   double tolerance = kDefaultArcTolerance);

  /// Of the whole path, in its unit.
  [[nodiscard]] double length() const { return length_; }
  /// As given, or raised to what doubles hold, in the path's unit.
  [[nodiscard]] double tolerance() const { return tolerance_; }
  /// Into how many parts the path was cut to keep to the tolerance.
  [[nodiscard]] std::size_t part_count() const { return parts_.size() - 1; }

  /// Length of the path from its start to `parameter`.
  [[nodiscard]] double distance_at(double parameter) const;

  /// The parameter that lies `distance` from the start. Where the path rests in one place for a while, the
  /// end of that; but 0 at the start and the last parameter at length().
  [[nodiscard]] double parameter_at(double distance) const {
    if (!(distance > 0.0)) return 0.0;
    if (distance >= length_) return end_;
    // The buckets narrow the search down to the few parts that begin in the same slice of distance.
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
  // From one cut to the next. The parameter is a cubic of the distance since `distance`: parameter + p1 x +
  // ..., and the distance one of the parameter since `parameter`: distance + d1 y + ...
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

  std::vector<Part> parts_;                 // and one more at the end
  std::vector<std::uint32_t> bucket_;       // part in which a slice of distance begins; one more at the end
  std::vector<std::uint32_t> piece_begin_;  // first part of a piece; one more at the end
  double buckets_per_unit_ = 0.0;
  double length_ = 0.0;
  double end_ = 0.0;
  double tolerance_ = 0.0;
};

/// Unit direction of travel at a parameter. Where the derivative is zero (a cusp, a stop), the direction in
/// which the path goes on from there, or at its end, has come; zero for a path that never leaves its place.
template <CurveVector V>
[[nodiscard]] V unit_tangent(const CubicPath<V>& path, double parameter);

/// Where one is after travelling `distance` along the path, at whatever parameter that is, and the derivative
/// with respect to distance, which is unit_tangent(): position(speed x time) moves at constant speed. `arc`
/// must be `path`'s.
template <CurveVector V>
[[nodiscard]] CurvePoint<V> at_distance(const CubicPath<V>& path, const ArcLengthTable& arc,
                                        double distance) {
  const double parameter = arc.parameter_at(distance);
  return {path.position(parameter), unit_tangent(path, parameter)};
}

/// Second derivative with respect to distance at a parameter: 1/radius, towards the centre. Zero where the
/// first derivative is.
template <CurveVector V>
[[nodiscard]] V curvature(const CubicPath<V>& path, double parameter);

/// A direction as angles, rad, in a right-handed world whose z axis points up.
struct Heading {
  double yaw = 0.0;    ///< about z, from x towards y, -pi to pi
  double pitch = 0.0;  ///< upwards, -pi/2 to pi/2
};

/// Both 0 for the zero vector; yaw 0 straight up and down. In DIS angles, psi = yaw and theta = -pitch.
[[nodiscard]] RECKONER_RECKONING_API Heading heading_of(const glm::dvec3& direction);

/// Body to world for a body that looks along its x axis with z up: Rz(yaw) Ry(-pitch).
[[nodiscard]] RECKONER_RECKONING_API glm::dquat orientation_of(const Heading& heading);

/// Three unit vectors at right angles, right-handed: tangent x left = up.
struct RECKONER_RECKONING_API Frame {
  glm::dvec3 tangent{1.0, 0.0, 0.0};  ///< forward, unit
  glm::dvec3 left{0.0, 1.0, 0.0};     ///< unit
  glm::dvec3 up{0.0, 0.0, 1.0};       ///< unit

  /// Body to world for a body whose x, y and z axes are tangent, left and up.
  [[nodiscard]] glm::dquat orientation() const;
};

/// The frame along `tangent` (unit) whose up is as near to `reference` as can be. If they are parallel, any.
[[nodiscard]] RECKONER_RECKONING_API Frame frame_towards(const glm::dvec3& tangent,
                                                         const glm::dvec3& reference);

/// `frame`, at `from`, carried to `to` where the tangent is `tangent`, with as little turning about the
/// tangent as can be: W. Wang, B. Jüttler, D. Zheng, Y. Liu, "Computation of rotation minimizing frames"
/// (2008), the double reflection method, fourth order in the step. From and to in one place: the shortest
/// rotation; for a reversal, the one about up.
[[nodiscard]] RECKONER_RECKONING_API Frame carry_frame(const Frame& frame, const glm::dvec3& from,
                                                       const glm::dvec3& to, const glm::dvec3& tangent);

/// How frames are carried along a path.
struct FrameOptions {
  glm::dvec3 up{0.0, 0.0, 1.0};  ///< what the frame at the start has up towards
  double largest_turn = 0.05;    ///< rad of the tangent between kept frames; error about its fourth power
  /// On a closed path the frame comes back turned by an angle. Set: that angle is spread evenly along the
  /// path, so that the frame at the end is the one at the start.
  bool close = true;
};

/// Rotation-minimising frames along a path: they do not roll, and have no favoured direction in which they
/// flip, as those made with a fixed up or with the curve's normal (Frenet) have. Frames are kept along the
/// path and carried on from the one before, so that what comes out is continuous in the parameter wherever
/// the tangent is; at a corner the frame is turned the shortest way. A value; evaluation allocates nothing.
class RECKONER_RECKONING_API FrameTable {
 public:
  /// `arc` must be `path`'s. largest_turn is limited to 1e-3 to 1 rad.
  FrameTable(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc, const FrameOptions& options = {});

  /// The frame at a parameter of the same path.
  [[nodiscard]] Frame frame(const CubicPath<glm::dvec3>& path, const ArcLengthTable& arc,
                            double parameter) const;

  /// Roll per unit of distance that closing put in, rad/m. 0 unless closed.
  [[nodiscard]] double closing_roll_rate() const { return roll_rate_; }

 private:
  struct Node {
    double parameter;
    glm::dvec3 position;
    Frame frame;
  };
  std::vector<Node> nodes_;
  double roll_rate_ = 0.0;
};

}  // namespace reckoner
