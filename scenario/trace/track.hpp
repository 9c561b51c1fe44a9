// SPDX-License-Identifier: MIT
#pragma once

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

/// The true motion of one entity between its samples. The position is a C1 cubic Hermite curve. Its tangent
/// at a sample is that of the parabola through the sample and its two neighbours, for uneven times. The
/// orientation uses such a curve for the rotation vector from sample to sample. A teleport holds the earlier
/// pose until the later time. Beside a teleport and at both ends, tangents are one-sided differences. Adding
/// samples changes the curve only within the last two sample intervals.
class Track {
 public:
  /// `samples`: at least one, times strictly increasing. A step faster than `teleport_mps` (m/s) and longer
  /// than 1 m is a teleport.
  Track(std::span<const TrackSample> samples, double teleport_mps);

  /// Returns the pose at `time_s`. Before the first sample and after the last, returns the pose of that
  /// sample.
  [[nodiscard]] Pose pose(double time_s) const;

  /// True if the later sample of a teleport is in (from_s, to_s].
  [[nodiscard]] bool teleports_within(double from_s, double to_s) const;

  /// True strictly between two samples that are more than 0.25 s apart.
  [[nodiscard]] bool in_gap(double time_s) const;

  [[nodiscard]] double first_s() const { return knots_.front().time_s; }
  [[nodiscard]] double last_s() const { return knots_.back().time_s; }
  [[nodiscard]] double path_length_m() const { return path_length_m_; }  ///< without teleports

 private:
  struct Knot {
    double time_s;
    glm::dvec3 position;
    glm::dvec3 velocity{0.0};          // the tangent
    glm::dquat orientation;            // in the hemisphere of the previous knot's orientation
    glm::dvec3 angular_velocity{0.0};  // the tangent, about the world's axes
    glm::dvec3 turn{0.0};              // rotation vector to the next knot
    glm::dvec3 turn_end_rate{0.0};     // rate of the rotation vector at the next knot
    bool teleports = false;            // the step to the next knot is a teleport
  };

  void add_knots(std::span<const TrackSample> samples, double teleport_mps);
  void set_tangents();
  const Knot& knot_before(double time_s) const;

  std::vector<Knot> knots_;
  std::vector<double> teleport_times_s_;
  double path_length_m_ = 0.0;
};

}  // namespace reckoner::scenario
