// SPDX-License-Identifier: MIT
#pragma once

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The spline of N. Caldwell, "Defeating Lag with Cubic Splines" (GameDev.net, 2000): a cubic Bézier curve
/// over four points, written as p(s) = A s^3 + B s^2 + C s + D with s from 0 to 1 in T frames. The article
/// names the coefficients A..D for x and E..H for y; here each is a vector, so that all axes share the
/// letters.
///
/// Three faults of the article are corrected:
/// 1. Its inner points lie one second of velocity from the ends, which makes the shown velocity 3/T times the
///    true one: right only if T is 3 s. Here they lie velocity x T/3 away, and velocity is continuous.
/// 2. It extrapolates a packet by T only. A packet has been on its way: its age is added.
/// 3. Its text swaps the points it calls 3 and 4 against the use its coefficients make of them. Here point 4
/// is
///    where the curve ends, and point 3 the one before it.
///
/// For quadratic motion this is the same curve as Blend's offset form; the tests hold the two together.
struct RECKONER_RECKONING_API CaldwellSpline {
  glm::dvec3 a{0.0};        ///< coefficient of s^3, m (the article's A and E)
  glm::dvec3 b{0.0};        ///< of s^2 (B and F)
  glm::dvec3 c{0.0};        ///< of s (C and G)
  glm::dvec3 d{0.0};        ///< constant (D and H)
  double duration_s = 0.0;  ///< from first to last point, s

  /// Position at `elapsed_s` since the start. Meant for 0 to duration_s; the caller follows the motion after.
  [[nodiscard]] glm::dvec3 position(double elapsed_s) const;
  [[nodiscard]] glm::dvec3 velocity(double elapsed_s) const;  ///< m/s
};

/// The cubic through four Bézier points, in the article's coefficients: A = p3 - 3 p2 + 3 p1 - p0, and so on.
[[nodiscard]] RECKONER_RECKONING_API CaldwellSpline spline_through(const glm::dvec3& p0, const glm::dvec3& p1,
                                                                   const glm::dvec3& p2, const glm::dvec3& p3,
                                                                   double duration_s);

/// From what is shown now onto where a packet's motion will be T seconds on.
///
/// `shown_position`, `shown_velocity`: what is drawn at this instant. `packet`: the motion received, exact
/// `age_s` ago. `duration_s`: T in seconds, > 0; frames_to_seconds() gives it from frames, as the article has
/// it.
[[nodiscard]] RECKONER_RECKONING_API CaldwellSpline caldwell_spline(const glm::dvec3& shown_position,
                                                                    const glm::vec3& shown_velocity,
                                                                    const State& packet, double age_s,
                                                                    double duration_s);

}  // namespace reckoner
