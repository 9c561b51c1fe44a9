// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

inline constexpr double kDefaultAngleLimit = 0.52359877559829887308;    ///< 30 deg, rad
inline constexpr double kDefaultOutlierLimit = 1.57079632679489661923;  ///< 90 deg, rad
inline constexpr int kMostChaikinPasses = 16;

/// How often corners are cut, and which.
struct ChaikinOptions {
  int passes = 1;       ///< 0 to kMostChaikinPasses; each about doubles the points
  bool closed = false;  ///< the last point is joined to the first
  /// Set: only corners that turn by this much (rad, 0 to pi) or more are cut; the others keep their point.
  std::optional<double> angle_limit;
  /// Set: spikes are dropped before the first pass; see reject_outliers(). rad, > 0 and below pi.
  std::optional<double> outlier_limit;
  std::size_t most_points = std::size_t{1} << 22;  ///< a result with more is refused before it is made
};

/// Corner cutting (G. Chaikin, "An algorithm for high speed curve generation", 1974). A pass replaces the
/// edge from p to p' by the points Q = 3/4 p + 1/4 p' and R = 1/4 p + 3/4 p'. Open: the end points are kept,
/// before the first Q and after the last R. So n points become 2n, closed and open alike.
///
/// With an angle limit a pass goes corner by corner: a point p_i whose turn reaches the limit gives way to
/// the R before it and the Q after it; any other stays where it is, and so do the ends of an open line. A
/// straight line gains no point then, and passes stop changing anything once all turns are below the limit.
///
/// A point that repeats the one before it counts once (closed: the last that repeats the first, too). Fewer
/// than three points left then: they are the result. Fails on a coordinate that is not finite or too large,
/// on options outside their range and if the result would have more than `most_points`.
template <CurveVector V>
[[nodiscard]] Result<std::vector<V>> chaikin(std::span<const V> points, const ChaikinOptions& options = {});

/// Drops spikes: single points to which the path jumps and from which it comes back. A point p goes if
///   1. the heading turns by more than `limit` at p, and
///   2. it turns back: with p left out, the path turns by at most limit/2 at each of p's two neighbours.
/// Of several such points the one with the sharpest turn goes first, then all is looked at anew.
///
/// A genuine corner stays, however sharp: where the path comes straight in and goes straight out, the two
/// turns of 2. add up to at least the turn at p, so that one of them exceeds limit/2. Next to an end of an
/// open path one neighbour has no turn; there the path must also turn by more than limit/2 at the other
/// neighbour with p in place, which it does after a spike and not after a corner. With fewer than four points
/// (closed: five) nothing goes. Neighbours that coincide once p is gone count as one point. Spikes of two
/// points or more stay.
///
/// `points`: usable ones, without repeats in a row, as chaikin() passes them on. Cost: points x dropped
/// points.
template <CurveVector V>
[[nodiscard]] std::vector<V> reject_outliers(std::vector<V> points, bool closed,
                                             double limit = kDefaultOutlierLimit);

}  // namespace reckoner
