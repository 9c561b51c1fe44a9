// SPDX-License-Identifier: MIT
#pragma once

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The spline of N. Caldwell, "Defeating Lag with Cubic Splines" (GameDev.net, 2000). It is a cubic Bézier
/// curve with four points, written as p(s) = A s^3 + B s^2 + C s + D, where s runs from 0 to 1 in T frames.
/// The article names the coefficients A..D for x and E..H for y; here each coefficient is a vector.
///
/// Three errors of the article are corrected:
///
/// 1. The article puts each inner point where a body would be after one second at the velocity of the end
///    point. So the shown velocity is 3/T times the true velocity, which is right only for T = 3 s. Here the
///    distance between an inner point and its end point is velocity x T/3, so the velocity is continuous.
/// 2. The article extrapolates a packet by T only. Here it is extrapolated by T plus the age of the packet,
///    which is the time since the packet was sent.
/// 3. In the article, the text and the coefficients disagree about the order of points 3 and 4. Here point 4
///    is the end of the curve, and point 3 is the point before it.
///
/// For quadratic motion this is the same curve as the offset form of Blend; a test compares the two.
struct RECKONER_RECKONING_API CaldwellSpline {
  glm::dvec3 a{0.0};        ///< coefficient of s^3, m (the article's A and E)
  glm::dvec3 b{0.0};        ///< coefficient of s^2, m (the article's B and F)
  glm::dvec3 c{0.0};        ///< coefficient of s, m (the article's C and G)
  glm::dvec3 d{0.0};        ///< constant term, m (the article's D and H)
  double duration_s = 0.0;  ///< time from the first to the last point, s

  /// Position at `elapsed_s` seconds after the start, m. Use it from 0 to duration_s; after that, follow the
  /// motion.
  [[nodiscard]] glm::dvec3 position(double elapsed_s) const;
  [[nodiscard]] glm::dvec3 velocity(double elapsed_s) const;  ///< velocity at `elapsed_s`, m/s
};

/// The cubic Bézier curve with four given control points, as the article's coefficients: A = p3 - 3 p2 + 3 p1
/// - p0, and so on.
[[nodiscard]] RECKONER_RECKONING_API CaldwellSpline spline_through(const glm::dvec3& p0, const glm::dvec3& p1,
                                                                   const glm::dvec3& p2, const glm::dvec3& p3,
                                                                   double duration_s);

/// The curve that begins at the position shown now. It ends `duration_s` seconds later at the position that
/// is predicted from the packet.
///
/// `shown_position`, `shown_velocity`: position, m, and velocity, m/s, as drawn at this instant. `packet`:
/// the received state, which was exact `age_s` seconds ago. `duration_s`: T in seconds, > 0. Use
/// frames_to_seconds() to convert from frames, the article's unit.
[[nodiscard]] RECKONER_RECKONING_API CaldwellSpline caldwell_spline(const glm::dvec3& shown_position,
                                                                    const glm::vec3& shown_velocity,
                                                                    const State& packet, double age_s,
                                                                    double duration_s);

}  // namespace reckoner
