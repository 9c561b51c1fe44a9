// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/curves/easing.hpp>
#include <reckoner/reckoning/curves/tcb.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

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
