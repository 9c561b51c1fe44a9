// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/reckoning/curves/cubic_path.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

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

}  // namespace reckoner
