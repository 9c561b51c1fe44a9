// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <glm/gtc/quaternion.hpp>

#include <reckoner/reckoning/curves/arc_length.hpp>
#include <reckoner/reckoning/curves/cubic_path.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

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
