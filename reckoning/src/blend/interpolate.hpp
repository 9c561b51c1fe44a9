// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The state at `time_s`, from one motion to a later one: the cubic through the positions and velocities of
/// both (Hermite), and through their orientations and angular velocities on the rotation vector, the short
/// way round. The motions' routes are not looked at.
///
/// Accelerations are mostly not used: what is sent there is a chord fitted for prediction, not a derivative
/// at the end point (DESIGN.md, Receiver). But where the way bends(), it is the quartic that also ends with
/// the later motion's acceleration: the cubic and b u^2 (1 - u)^2, u from 0 to 1.
///
/// This is what clients show in buffered modes, and what a server holds the truth against that is sent to
/// them. The acceleration of the result is zero.
[[nodiscard]] RECKONER_RECKONING_API State interpolate(const Motion& from, const Motion& to, double time_s);

/// The same for the position alone, which costs a fraction of it.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 interpolate_position(const Motion& from, const Motion& to,
                                                                     double time_s);

/// The link of a motion that bends and follows `from`: 0 after one that does not bend, else 1 to 3 in turn.
[[nodiscard]] inline std::uint8_t next_link(const Motion& from) {
  return from.bends ? static_cast<std::uint8_t>(from.link % (Motion::kLinks - 1) + 1) : std::uint8_t{0};
}

/// True if the acceleration of `to` was made for the way from `from`. It was not if what was published in
/// between has been lost: that would have bent otherwise.
[[nodiscard]] inline bool bends(const Motion& from, const Motion& to) {
  return to.bends && to.link == next_link(from);
}

/// How much of b there is at u: u^2 (1 - u)^2, a sixteenth in the middle.
[[nodiscard]] constexpr double bend_share(double u) {
  return u * u * (1.0 - u) * (1.0 - u);
}

/// The acceleration that `to` must have for the way to it to bend by `b` metres.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 acceleration_that_bends(const Motion& from, const Motion& to,
                                                                        const glm::dvec3& b);

}  // namespace reckoner
