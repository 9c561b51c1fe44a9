// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Default angle limit, 30 degrees, rad.
inline constexpr double kDefaultAngleLimit = 0.52359877559829887308;
/// Default outlier limit, 90 degrees, rad.
inline constexpr double kDefaultOutlierLimit = 1.57079632679489661923;
/// The largest number of corner-cutting passes.
inline constexpr int kMaxChaikinPasses = 16;

/// Options of chaikin().
struct ChaikinOptions {
  int passes = 1;       ///< 0 to kMaxChaikinPasses; each pass about doubles the number of points
  bool closed = false;  ///< whether the last point is joined to the first
  /// If set, only corners that turn by at least this angle (rad, 0 to pi) are cut; all other points stay.
  std::optional<double> angle_limit;
  /// If set, spikes are removed before the first pass; see reject_outliers(). rad, above 0 and below pi.
  std::optional<double> outlier_limit;
  /// chaikin() fails before it allocates a result with more points.
  std::size_t max_points = std::size_t{1} << 22;
};

/// Corner cutting (G. Chaikin, "An algorithm for high speed curve generation", 1974). One pass replaces the
/// edge from p to p' by the points Q = 3/4 p + 1/4 p' and R = 1/4 p + 3/4 p'. For an open line the end points
/// are kept, before the first Q and after the last R. So n points become 2n, closed or open.
///
/// With an angle limit a pass treats each corner separately. A point whose turn reaches the limit is replaced
/// by the R before it and the Q after it. All other points stay, and so do the ends of an open line. So a
/// straight line gains no points, and passes change nothing once all turns are below the limit.
///
/// A point that repeats the one before it is ignored; if closed, also a last point that repeats the first. If
/// fewer than three points remain, these are the result. Fails if a coordinate is not finite or larger than
/// kLargestCoordinate, if an option is out of range, or if the result would have more than `max_points`
/// points.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> chaikin(std::span<const V> points, const ChaikinOptions& options = {});

/// Removes spikes: single points to which the path jumps and from which it returns. A point p is removed if
/// - the heading turns by more than `limit` at p, and
/// - the path turns back: without p, it turns by at most limit/2 at each of p's two neighbours.
///
/// If there are several such points, the one with the sharpest turn is removed first; then all points are
/// checked again.
///
/// A real corner stays, however sharp it is. If the path enters and leaves a corner in straight lines, the
/// two turns of the second condition add up to at least the turn at p. So one of them exceeds limit/2. At an
/// end of an open path one neighbour has no turn. There the path with p must also turn by more than limit/2
/// at the other neighbour. This is true for a spike and false for a corner.
///
/// Nothing is removed from fewer than four points (closed: five). Neighbours that coincide after p is removed
/// become one point. Spikes of two or more points stay.
///
/// `points` must be usable and without consecutive repeats, as chaikin() passes them. The time is
/// proportional to points x removed points.
template <CurveVector V>
[[nodiscard]] std::vector<V> reject_outliers(std::vector<V> points, bool closed,
                                             double limit = kDefaultOutlierLimit);

}  // namespace reckoner
