// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves/path.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How motion speeds up and slows down along a segment between two keys: parabolic over the first share
/// `ease_from`, linear in the middle, parabolic over the last share `ease_to`. The function is C1, rises from
/// 0 at t = 0 to 1 at t = 1 and never decreases. With a = ease_from, b = ease_to (both scaled to a sum of 1
/// if their sum is larger) and k = 1/(2 - a - b):
///   t < a: k t^2/a;   t < 1 - b: k (2t - a);   else 1 - k (1 - t)^2/b.
/// These are the parameters "ease from" (of the segment's first key) and "ease to" (of its last key) of 3D
/// Studio.
class RECKONER_RECKONING_API Easing {
 public:
  /// No easing: value(t) = t.
  Easing() = default;

  /// Both 0 to 1. Values outside count as the nearest limit, NaN as 0.
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
  double tension = 0.0;     ///< 1: tight, the curve stops at the key; -1: loose
  double continuity = 0.0;  ///< not 0: the curve has a corner; the sign is the paper's, see TcbSpline
  /// 1: overshoots, continues the incoming direction; -1: undershoots, anticipates the outgoing direction.
  double bias = 0.0;
};

/// The weights of the step before a key (p_i - p_i-1) and after it (p_i+1 - p_i) in its two tangents. The
/// incoming tangent is the paper's source derivative, the outgoing tangent its destination derivative.
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
/// The sign of continuity is the paper's, as in TcbWeights. Some tutorials and programs have (1+c) where the
/// paper has (1-c); negate continuity to get their curve. Keys with all shape parameters 0 give Catmull-Rom
/// tangents.
///
/// Ends: the first key's outgoing tangent is (1.5 (p1 - p0) - 0.5 in(p1)) (1 - tension). The last key's
/// incoming tangent is its mirror image. With only two keys both tangents are (p1 - p0)(1 - tension). A
/// single key gives a constant.
///
/// Easing changes when the curve reaches a point, not its shape; path() is without easing. Times outside the
/// range count as the nearest end, NaN as the start. A value; evaluation allocates nothing.
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
  /// Time of the last key; closed: the time at which the first key is reached again.
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
  std::vector<double> times_;  // one more than segments, or the time of the only key
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
/// between. Tangents and ends are those of TcbSpline, computed from these steps.
///
/// Each segment is the cubic Bézier curve of rotations q0 exp(w1 b1(u)) exp(w2 b2(u)) exp(w3 b3(u)) with
/// cumulative Bernstein weights (M. Kim, M. Kim, S. Shin, "A general construction scheme for unit quaternion
/// curves", 1995). It matches the tangents exactly: angular velocity is continuous at a key with continuity 0
/// and no easing. If all rotations have the same axis, the result equals TcbSpline on the angle.
///
/// Times outside the range count as the nearest end, NaN as the start. A value; evaluation allocates nothing.
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
