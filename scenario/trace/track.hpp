// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// One recorded sample. Seconds, metres, unit quaternion.
struct TrackSample {
  double time_s = 0.0;
  glm::dvec3 position{0.0};
  glm::dquat orientation{1.0, 0.0, 0.0, 0.0};
};

/// The true motion of one entity between its samples. The position is a C1 cubic Hermite curve. The parabola
/// through a sample and its two neighbours gives the tangent at the sample; the samples may have uneven
/// times. The orientation uses such a curve for the rotation vector from sample to sample. During a teleport,
/// the earlier pose is valid until the time of the later sample. At a teleport and at both ends of the track,
/// tangents are one-sided differences. Adding samples changes the curve only within the last two sample
/// intervals.
class Track {
 public:
  /// `samples` must contain at least one sample, and their times must increase strictly. A step is a teleport
  /// if it is faster than `teleport_mps` (m/s) and longer than 1 m. Between samples that are more than
  /// `gap_s` apart, the motion is unknown.
  Track(std::span<const TrackSample> samples, double teleport_mps, double gap_s);

  /// Returns the pose at `time_s`. Before the first sample and after the last, returns the pose of that
  /// sample.
  [[nodiscard]] Pose pose(double time_s) const;

  /// True if a teleport ends in the interval (from_s, to_s]. A teleport ends at the time of its later sample.
  [[nodiscard]] bool teleports_within(double from_s, double to_s) const;

  /// True if `time_s` lies between two samples that are further apart than the constructor's `gap_s`. False
  /// at the samples themselves.
  [[nodiscard]] bool in_gap(double time_s) const;

  [[nodiscard]] double first_s() const { return knots_.front().time_s; }
  [[nodiscard]] double last_s() const { return knots_.back().time_s; }
  [[nodiscard]] std::size_t size() const { return knots_.size(); }       ///< number of samples
  [[nodiscard]] double gaps_s() const;                                   ///< time in gaps, s
  [[nodiscard]] double path_length_m() const { return path_length_m_; }  ///< without the jumps of teleports

 private:
  struct Knot {
    double time_s;
    glm::dvec3 position;
    glm::dvec3 velocity{0.0};          // tangent of the position, m/s
    glm::dquat orientation;            // sign chosen so that it is close to the previous knot's orientation
    glm::dvec3 angular_velocity{0.0};  // tangent of the rotation, about the world's axes, rad/s
    glm::dvec3 turn{0.0};              // rotation vector to the next knot
    glm::dvec3 turn_end_rate{0.0};     // rate of the rotation vector at the next knot
    bool teleports = false;            // true: the step to the next knot is a teleport
  };

  void add_knots(std::span<const TrackSample> samples, double teleport_mps);
  void set_tangents();
  const Knot& knot_before(double time_s) const;

  std::vector<Knot> knots_;
  std::vector<double> teleport_times_s_;
  double path_length_m_ = 0.0;
  double longest_step_s_;
};

}  // namespace reckoner::scenario
