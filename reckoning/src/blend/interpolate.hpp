// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The state at `time_s`, interpolated between a motion and a later one. The positions and velocities of both
/// motions define a Hermite cubic. Their orientations and angular velocities define another Hermite cubic,
/// for the rotation vector of the shorter rotation between them. Routes are ignored.
///
/// An entity that spins may make more than half a turn between the two motions. Then the orientation turns
/// steadily with the angular velocity of `from`, and the Hermite cubic is for the rotation that remains. This
/// is done if the angular velocity of `from` gives more than three eighths of a turn in a quiet gap
/// (QuietGap) in which `from` was valid. In other gaps it is done if the angular velocities of both motions
/// have similar directions and their mean gives more than three eighths of a turn.
///
/// Accelerations are normally ignored: the sent acceleration is fitted for prediction and is not the
/// derivative at the end point. But if bends(from, to) is true, the position follows a quartic that ends with
/// the acceleration of `to`. The quartic is the cubic plus b u^2 (1 - u)^2, where b is the bend, m, and u
/// runs from 0 to 1.
///
/// If `to` is sudden (MotionTransition::sudden), its curves do not depend on the velocity and the angular
/// velocity of `from`. They are quadratic, and end with those of `to`. After a quiet gap, motions in between
/// were lost, and `sudden` does not count.
///
/// Clients in buffered mode show this curve, and the server compares it with the truth. The acceleration in
/// the result is zero.
[[nodiscard]] RECKONER_RECKONING_API State interpolate(const Motion& from, const Motion& to, double time_s);

/// The velocity with which the curve from `from` to `to` begins, m/s: that of `from`, except if `to` is
/// sudden.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 start_velocity(const Motion& from, const Motion& to);

/// The shortest quiet gap (QuietGap::gap_s) of a sender whose gaps are at most `longest_gap_s` while its
/// motions are not valid, s. It is longer by a margin for the tick at the end of a gap.
[[nodiscard]] constexpr double quiet_gap_after(double longest_gap_s) {
  constexpr double kShortestS = 0.2;
  constexpr double kRoom = 1.25;
  return kRoom * longest_gap_s > kShortestS ? kRoom * longest_gap_s : kShortestS;
}

/// Returns `to`, but not sudden after a quiet gap from `from`. Use it if the curve begins later than `from`,
/// because the curve alone does not show that the gap is quiet.
[[nodiscard]] RECKONER_RECKONING_API Motion curve_end(const Motion& from, const Motion& to);

/// When the curve of the positions and the curve of the orientations to the next motion begin, s. Both are
/// the time stamp of the earlier motion, or later in a quiet gap.
struct CurveStarts {
  double position_s = 0.0;
  double orientation_s = 0.0;
};

/// In a quiet gap (QuietGap), the motion `from` is extrapolated as long as it may have been valid. From
/// differences dp and dv between its extrapolation and `to`, a constant acceleration must have begun 2 |dp| /
/// |dv| before `to`; the curve begins then. It begins at `from` if the motion bends towards `to` (bends())
/// or `to` is sudden, if the gap is not quiet, if the change was not sudden, or if `from` was not valid
/// because motions in between were lost.
[[nodiscard]] RECKONER_RECKONING_API CurveStarts curve_starts(const Motion& from, const Motion& to);

/// True if the extrapolation of `from` was valid until shortly before `to`. False if it was not, because
/// motions in between were lost. Motions on routes, in different frames or with a teleport between them count
/// as valid.
[[nodiscard]] RECKONER_RECKONING_API bool was_valid_until(const Motion& from, const Motion& to);

/// The state at `time_s` between two motions of a received stream: interpolate(), but in a quiet gap `from`
/// is extrapolated until curve_starts().
[[nodiscard]] RECKONER_RECKONING_API State interpolate_gap(const Motion& from, const Motion& to,
                                                           double time_s);

/// The position of interpolate() alone, at a fraction of the cost.
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 interpolate_position(const Motion& from, const Motion& to,
                                                                     double time_s);

/// The link (MotionTransition::link) of a motion that bends and follows `from`. It is 0 if `from` does not
/// bend. In a chain of motions that bend, it counts 1, 2, 3 and then 1 again.
[[nodiscard]] inline std::uint8_t next_link(const Motion& from) {
  return from.transition.bends
             ? static_cast<std::uint8_t>(from.transition.link % (MotionTransition::kLinks - 1) + 1)
             : std::uint8_t{0};
}

/// True if the acceleration of `to` was computed for the curve from `from`. False if a motion published in
/// between was lost: then the acceleration belongs to a different curve.
[[nodiscard]] inline bool bends(const Motion& from, const Motion& to) {
  return to.transition.bends && to.transition.link == next_link(from);
}

/// The factor on the bend b at u: u^2 (1 - u)^2, which is 1/16 in the middle.
[[nodiscard]] constexpr double bend_share(double u) {
  return u * u * (1.0 - u) * (1.0 - u);
}

/// The acceleration, m/s^2, that `to` must have for the curve from `from` to bend by `b` (m).
[[nodiscard]] RECKONER_RECKONING_API glm::dvec3 bending_acceleration(const Motion& from, const Motion& to,
                                                                     const glm::dvec3& b);

}  // namespace reckoner
