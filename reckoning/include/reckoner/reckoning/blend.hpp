// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// A time span given in frames, as games and Caldwell's article have it: `frames` at `frame_rate_hz`.
[[nodiscard]] constexpr double frames_to_seconds(double frames, double frame_rate_hz) {
  return frames / frame_rate_hz;
}

/// The curve that takes the shown pose onto a new motion in T seconds, in offset form:
///
///   shown(t) = motion(t) + e(t),   e(u) = E0 (1 - 3u^2 + 2u^3) + E1 T u (1-u)^2,   u = (t - t0)/T
///
/// E0 and E1 are what the shown position and velocity are off the motion at t0; the cubic brings both to zero
/// at t0 + T, so that the shown position and velocity are continuous whatever the new motion is. The
/// orientation does the same on the rotation vector of the offset, the short way round, in the same T or one
/// of its own. For quadratic motion
/// this is the cubic spline between (shown position, velocity) and the motion T later (DESIGN.md, Receiver).
///
/// A value: copy it freely. A default-made one is over, and shows the motion itself.
class RECKONER_RECKONING_API Blend {
 public:
  Blend() = default;

  /// From `shown` (position, velocity, orientation and angular velocity are used), which is what is drawn at
  /// `start_s`, onto `motion`. `duration_s` <= 0 gives a blend that is already over. The orientation takes
  /// `turn_share` of that, above 0 and at most 1.
  Blend(const State& shown, const State& motion_at_start, double start_s, double duration_s,
        double turn_share = 1.0);

  /// What to show at `time_s`, where `motion` is the new motion's state at that time. Before the start the
  /// offset stands still; after the end the motion is shown as it is. The acceleration includes the offset's.
  [[nodiscard]] State apply(const State& motion, double time_s) const;

  /// What apply() adds to the motion at an instant.
  struct Offset {
    glm::dvec3 position;  ///< m
    glm::dvec3 rotation;  ///< rotation vector that turns the orientation, rad
  };
  /// At `time_s`, while the blend is not over().
  [[nodiscard]] Offset offset(double time_s) const;

  /// How much faster than the motion it is at any time makes what is shown, m/s: at most so much.
  [[nodiscard]] double top_speed_mps() const;

  /// When it began, s of the time that is shown.
  [[nodiscard]] double start_s() const { return start_s_; }
  /// How long it lasts, s.
  [[nodiscard]] double duration_s() const { return duration_s_; }
  /// Whether nothing is left of it at `time_s`.
  [[nodiscard]] bool over(double time_s) const {
    return !(time_s < start_s_ + duration_s_) || duration_s_ <= 0.0;
  }

 private:
  double start_s_ = 0.0;
  double duration_s_ = 0.0;
  double turn_duration_s_ = 0.0;
  glm::dvec3 offset_{0.0};         // E0, m
  glm::dvec3 offset_rate_{0.0};    // E1, m/s
  glm::dvec3 rotation_{0.0};       // E0 of the rotation vector, rad
  glm::dvec3 rotation_rate_{0.0};  // E1 of the rotation vector, rad/s
};

}  // namespace reckoner
