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

/// How a key-framed segment speeds up and slows down: parabolic over the first `ease_from` of it, linear in
/// between, parabolic over the last `ease_to`. C1, from 0 at 0 to 1 at 1, never falling. With a = ease_from,
/// b = ease_to (both scaled to sum 1 if they sum to more) and k = 1/(2 - a - b):
///   t < a: k t^2/a;   t < 1 - b: k (2t - a);   else 1 - k (1 - t)^2/b.
/// This is what 3D Studio's keys have as "ease from" (the key left) and "ease to" (the key reached).
class RECKONER_RECKONING_API Easing {
 public:
  /// Linear: value(t) = t.
  Easing() = default;

  /// Both 0 to 1; what lies outside counts as the nearest, NaN as 0.
  Easing(double ease_from, double ease_to);

  /// t outside 0 to 1 counts as the nearest.
  [[nodiscard]] double value(double t) const;
  [[nodiscard]] double rate(double t) const;         ///< derivative
  [[nodiscard]] double second_rate(double t) const;  ///< second derivative; steps at a and at 1 - b
  [[nodiscard]] double inverse(double value) const;  ///< the t with that value

 private:
  double a_ = 0.0;
  double b_ = 0.0;
  double k_ = 0.5;
};

/// A key's shape parameters. -1 to 1 is the usual range; any finite number is taken.
struct TcbShape {
  double tension = 0.0;     ///< 1: tight, stops at the key; -1: loose
  double continuity = 0.0;  ///< not 0: a corner. As in the paper; see TcbSpline
  double bias = 0.0;        ///< 1: overshoots, follows the way in; -1: undershoots, the way out
};

/// The weights that a key's shape puts on the step before it (p_i - p_i-1) and after it (p_i+1 - p_i), for
/// the tangent that arrives (the paper's source derivative) and the one that leaves (destination derivative).
struct TcbWeights {
  double in_before = 0.5;   ///< of the way from the key before, in the tangent that arrives
  double in_after = 0.5;    ///< of the way to the key after, in the tangent that arrives
  double out_before = 0.5;  ///< of the way from the key before, in the tangent that leaves
  double out_after = 0.5;   ///< of the way to the key after, in the tangent that leaves
};

/// D. Kochanek, R. Bartels, "Interpolating splines with local tension, continuity, and bias control", 1984:
///   in:  (1-t)(1-c)(1+b)/2 (p_i - p_i-1) + (1-t)(1+c)(1-b)/2 (p_i+1 - p_i)
///   out: (1-t)(1+c)(1+b)/2 (p_i - p_i-1) + (1-t)(1-c)(1-b)/2 (p_i+1 - p_i)
/// with the paper's correction for uneven key times: in x 2 before/(before + after), out x 2 after/(before +
/// after), where `before` and `after` are the times of the segments around the key (> 0). That makes the
/// velocity in time the same on both sides whenever continuity is 0.
[[nodiscard]] RECKONER_RECKONING_API TcbWeights tcb_weights(const TcbShape& shape, double before,
                                                            double after);

/// A value that the curve takes at a time, and how it passes there.
template <CurveVector V>
struct TcbKey {
  double time = 0.0;       ///< s, or any unit; rising from key to key
  V value{0.0};            ///< that the curve takes
  TcbShape shape{};        ///< how it passes there
  double ease_to = 0.0;    ///< 0 to 1: share of the segment before the key over which motion slows down to it
  double ease_from = 0.0;  ///< 0 to 1: share of the segment after the key over which motion speeds up
};

/// Whether the curve is closed.
struct TcbOptions {
  /// Closed when set: the time from the last key on to the first again, > 0.
  std::optional<double> closing_time;
};

/// Kochanek-Bartels (TCB) keys joined by Hermite cubics.
///
/// The sign of continuity is the paper's, as in TcbWeights. Tutorials and programs that have (1+c) where the
/// paper has (1-c) are had by negating continuity. Keys of shape zero give the Catmull-Rom tangents.
///
/// Ends: the first key leaves with (1.5 (p1 - p0) - 0.5 in(p1)) (1 - tension), the last arrives with the
/// mirror image of that; two keys alone have (p1 - p0)(1 - tension) at either end; one key is a constant.
///
/// Easing runs along the segment, so that it changes when the curve is where, not its shape: path() has none.
/// Times outside the keys' count as the nearest end (NaN as the start). A value; evaluation allocates
/// nothing.
template <CurveVector V>
class TcbSpline {
 public:
  /// Fails on no keys, times that do not rise, easing outside 0 to 1, anything not finite or too large;
  /// closed: on fewer than three keys. A repeated value is an ordinary key.
  [[nodiscard]] static Result<TcbSpline> make(std::span<const TcbKey<V>> keys,
                                              const TcbOptions& options = {});

  /// Where the curve is at a time of the keys'.
  [[nodiscard]] V position(double time) const { return path_.position(path_parameter(time)); }
  [[nodiscard]] V velocity(double time) const;      ///< derivative in time
  [[nodiscard]] V acceleration(double time) const;  ///< second derivative in time
  /// Of the first key.
  [[nodiscard]] double start_time() const { return times_.front(); }
  [[nodiscard]] double end_time() const { return times_.back(); }  ///< closed: when the first key comes again
  /// Of the keys, rising.
  [[nodiscard]] std::span<const double> times() const { return times_; }

  /// The shape, in its own parameter (segments, easing left out), and the way between the two.
  [[nodiscard]] const CubicPath<V>& path() const { return path_; }
  /// Where in path() the curve is at a time.
  [[nodiscard]] double path_parameter(double time) const;
  /// When the curve is at a place in path().
  [[nodiscard]] double time_at(double path_parameter) const;

 private:
  struct Segment {
    double start = 0.0;
    double duration = 0.0;
    Easing easing;
  };
  struct Place {
    std::size_t index;
    double u;
  };

  TcbSpline(CubicPath<V> path, std::vector<double> times, std::vector<Segment> segments)
      : path_(std::move(path)), times_(std::move(times)), segments_(std::move(segments)) {}
  [[nodiscard]] Place locate(double time) const;

  CubicPath<V> path_;
  std::vector<double> times_;  // of the joints: one more than segments, or the single key's
  std::vector<Segment> segments_;
};

/// An orientation to be in at a time; the rest as in TcbKey.
struct OrientationKey {
  double time = 0.0;                           ///< rising from key to key
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};  ///< body to world; made unit on the way in
  TcbShape shape{};                            ///< how the curve passes there
  double ease_to = 0.0;                        ///< 0 to 1: how much of the way here slows down
  double ease_from = 0.0;                      ///< 0 to 1: how much of the way on speeds up
};

/// Kochanek-Bartels keys for orientations. The steps between keys are rotation vectors in body axes, the
/// shortest way round (q and -q are the same key; a turn of more than half a revolution needs a key in
/// between). Tangents and ends are those of TcbSpline on these steps. Each segment is the cubic Bézier curve
/// of rotations q0 exp(w1 b1(u)) exp(w2 b2(u)) exp(w3 b3(u)) with cumulative Bernstein weights (M. Kim, M.
/// Kim, S. Shin, "A general construction scheme for unit quaternion curves", 1995), which meets the tangents
/// exactly: angular velocity is continuous through a key of continuity 0 without easing. About one axis it
/// equals TcbSpline on the angle.
///
/// Times outside the keys' count as the nearest end (NaN as the start). A value; evaluation allocates
/// nothing.
class RECKONER_RECKONING_API OrientationSpline {
 public:
  /// Fails on no keys, times that do not rise, easing outside 0 to 1, a zero quaternion, anything not finite.
  [[nodiscard]] static Result<OrientationSpline> make(std::span<const OrientationKey> keys);

  [[nodiscard]] glm::dquat orientation(double time) const;       ///< unit, body to world
  [[nodiscard]] glm::dvec3 angular_velocity(double time) const;  ///< rad per unit of time, world axes
  /// Of the first key.
  [[nodiscard]] double start_time() const { return start_; }
  /// Of the last key.
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
  struct Place {
    const Segment* segment;
    double u;
  };

  OrientationSpline() = default;
  [[nodiscard]] Place locate(double time) const;

  std::vector<Segment> segments_;  // none for a single key
  glm::dquat last_{1.0, 0.0, 0.0, 0.0};
  double start_ = 0.0;
  double end_ = 0.0;
};

}  // namespace reckoner
