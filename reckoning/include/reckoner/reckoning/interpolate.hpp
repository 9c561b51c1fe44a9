// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The state at `time_s`, from one motion to a later one: the cubic through the positions and velocities of
/// both (Hermite), and through their orientations and angular velocities on the rotation vector, the short
/// way round. Accelerations are not used: what is sent there is a chord fitted for prediction, not a
/// derivative at the end point (DESIGN.md, Receiver). The motions' routes are not looked at.
///
/// This is what clients show in buffered modes, and what a server holds the truth against that is sent to
/// them. The acceleration of the result is zero.
[[nodiscard]] State interpolate(const Motion& from, const Motion& to, double time_s);

/// The same for the position alone, which costs a fraction of it.
[[nodiscard]] glm::dvec3 interpolate_position(const Motion& from, const Motion& to, double time_s);

}  // namespace reckoner
