// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

constexpr int kMaxDepth = 40;  // largest number of halvings of a piece; only a cusp comes close to it

// The coefficients of the Hermite cubic from 0 to `rise` over `run`, without the constant term, which is 0.
// The slopes are limited so that it never decreases.
std::array<double, 3> rising_cubic(double run, double rise, double slope0, double slope1) {
  const double mean = rise / run;
  const double s0 = std::min(slope0, 3.0 * mean);
  const double s1 = std::min(slope1, 3.0 * mean);
  return {s0, (3.0 * mean - 2.0 * s0 - s1) / run, (s0 + s1 - 2.0 * mean) / (run * run)};
}

double cubic(const std::array<double, 3>& c, double x) {
  return x * (c[0] + x * (c[1] + x * c[2]));
}

double slope_inverse(double slope) {
  return slope > 0.0 ? 1.0 / slope : HUGE_VAL;
}

}  // namespace

template <CurveVector V>
class ArcLengthBuilder {
 public:
  ArcLengthBuilder(const CubicPath<V>& path, double tolerance) : path_(path), tolerance_(tolerance) {
    double rough = 0.0;
    for (const CubicPiece<V>& piece : path.pieces())
      rough += quadrature(piece, 0.0, 1.0);
    tolerance_ = std::max(tolerance, 1e-12 * rough);
  }

  ArcLengthTable build() {
    const auto pieces = path_.pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      table_.piece_begin_.push_back(static_cast<std::uint32_t>(table_.parts_.size()));
      first_ = static_cast<double>(i);
      cover(pieces[i], 0.0, 1.0, 0);
    }
    table_.piece_begin_.push_back(static_cast<std::uint32_t>(table_.parts_.size()));
    table_.parts_.push_back({.distance = total_, .parameter = path_.end_parameter()});
    table_.finish(tolerance_, pieces.size());
    return std::move(table_);
  }

 private:
  static double speed(const CubicPiece<V>& piece, double u) {
    return curve_math::length(piece.derivative(u));
  }

  // Length from a to b by Gauss-Legendre quadrature with five points.
  static double quadrature(const CubicPiece<V>& piece, double a, double b) {
    constexpr double kX1 = 0.53846931010568309104, kX2 = 0.90617984593866399280;
    constexpr double kW0 = 0.56888888888888888889, kW1 = 0.47862867049936646804, kW2 = 0.23692688505618908751;
    const double m = 0.5 * (a + b);
    const double h = 0.5 * (b - a);
    return h * (kW0 * speed(piece, m) + kW1 * (speed(piece, m - kX1 * h) + speed(piece, m + kX1 * h)) +
                kW2 * (speed(piece, m - kX2 * h) + speed(piece, m + kX2 * h)));
  }

  void cover(const CubicPiece<V>& piece, double a, double b, int depth) {
    const double m = 0.5 * (a + b);
    const double left = quadrature(piece, a, m);
    const double length = left + quadrature(piece, m, b);
    // This part's share of the tolerance. It is at least the rounding error of such a length, because more
    // halving cannot improve the result below that.
    constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
    const double share = std::max(0.25 * tolerance_ * (b - a) / path_.end_parameter(), kRounding * length);
    const bool measured = std::abs(quadrature(piece, a, b) - length) <= share;
    // In a part shorter than its share of the tolerance, no error can exceed that share.
    if (length <= share || depth >= kMaxDepth || (measured && interpolates(piece, a, b, left, length))) {
      add_part(piece, a, b, length);
      return;
    }
    cover(piece, a, m, depth + 1);
    cover(piece, m, b, depth + 1);
  }

  // Checks both cubics at one quarter, one half and three quarters of the part.
  bool interpolates(const CubicPiece<V>& piece, double a, double b, double left, double length) const {
    const double h = b - a;
    const double s0 = speed(piece, a);
    const double s1 = speed(piece, b);
    const auto forward = rising_cubic(h, length, s0, s1);
    const auto backward = rising_cubic(length, h, slope_inverse(s0), slope_inverse(s1));
    const std::array<double, 3> truth{quadrature(piece, a, a + 0.25 * h), left,
                                      left + quadrature(piece, a + 0.5 * h, a + 0.75 * h)};
    for (std::size_t i = 0; i < 3; ++i) {
      const double y = 0.25 * h * static_cast<double>(i + 1);
      if (std::abs(cubic(forward, y) - truth[i]) > 0.25 * tolerance_) return false;
      const double found = cubic(backward, truth[i]);
      if (std::abs(quadrature(piece, a + y, a + found)) > 0.25 * tolerance_) return false;
    }
    return true;
  }

  void add_part(const CubicPiece<V>& piece, double a, double b, double length) {
    ArcLengthTable::Part part;
    part.distance = total_;
    part.parameter = first_ + a;
    if (length > kSamePoint) {
      const double s0 = speed(piece, a);
      const double s1 = speed(piece, b);
      const auto forward = rising_cubic(b - a, length, s0, s1);
      const auto backward = rising_cubic(length, b - a, slope_inverse(s0), slope_inverse(s1));
      part.d1 = forward[0], part.d2 = forward[1], part.d3 = forward[2];
      part.p1 = backward[0], part.p2 = backward[1], part.p3 = backward[2];
    }
    table_.parts_.push_back(part);
    total_ += length;
  }

  const CubicPath<V>& path_;
  double tolerance_;
  ArcLengthTable table_;
  double total_ = 0.0;
  double first_ = 0.0;  // parameter at the start of the current piece
};

void ArcLengthTable::finish(double tolerance, std::size_t piece_count) {
  tolerance_ = tolerance;
  end_ = static_cast<double>(piece_count);
  length_ = parts_.back().distance;
  if (!(length_ > 0.0)) return;
  const std::size_t parts = part_count();
  const std::size_t buckets = 2 * parts;
  buckets_per_unit_ = static_cast<double>(buckets) / length_;
  // bucket_[k + 1] is the last part that begins in bucket k or before. Here and in parameter_at(), the bucket
  // of a distance is computed from the same rounded product, so both functions always agree.
  bucket_.assign(buckets + 2, 0);
  std::size_t part = 0;
  for (std::size_t k = 0; k <= buckets; ++k) {
    while (part + 1 < parts && static_cast<std::int64_t>(parts_[part + 1].distance * buckets_per_unit_) <=
                                   static_cast<std::int64_t>(k)) {
      ++part;
    }
    bucket_[k + 1] = static_cast<std::uint32_t>(part);
  }
}

double ArcLengthTable::distance_at(double parameter) const {
  if (!(parameter > 0.0)) return 0.0;
  if (parameter >= end_) return length_;
  const auto piece = static_cast<std::size_t>(parameter);
  const auto begin = parts_.begin() + piece_begin_[piece];
  const auto end = parts_.begin() + piece_begin_[piece + 1];
  const auto after =
      std::upper_bound(begin, end, parameter, [](double t, const Part& part) { return t < part.parameter; });
  const Part& part = *(after - 1);
  const double y = parameter - part.parameter;
  return std::min(part.distance + y * (part.d1 + y * (part.d2 + y * part.d3)), after->distance);
}

template <CurveVector V>
Result<ArcLengthTable> ArcLengthTable::make(const CubicPath<V>& path, double tolerance) {
  if (!(tolerance > 0.0) || !std::isfinite(tolerance))
    return Error{"the arc length tolerance must be above 0 and finite"};
  return ArcLengthBuilder<V>(path, tolerance).build();
}

template RECKONER_RECKONING_API Result<ArcLengthTable> ArcLengthTable::make(const CubicPath<double>&, double);
template RECKONER_RECKONING_API Result<ArcLengthTable> ArcLengthTable::make(const CubicPath<glm::dvec2>&,
                                                                            double);
template RECKONER_RECKONING_API Result<ArcLengthTable> ArcLengthTable::make(const CubicPath<glm::dvec3>&,
                                                                            double);

}  // namespace reckoner
