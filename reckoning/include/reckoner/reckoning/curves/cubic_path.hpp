// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/reckoning/curves/vector.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

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

}  // namespace reckoner
