// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner::harness {

/// Measures the shown poses of a source whose entities may be in the frames of other entities. The error of
/// an entity in a frame is measured in that frame: its shown pose relative to the shown pose of the frame's
/// entity, compared with its true pose relative to the true pose of the frame's entity. Call frame() for
/// every picture in the order of time.
///
/// All figures leave out the first 2 s of the run. Errors also leave out entities that change their frame at
/// any time. An entity is at rest if the truth has not moved in its frame for 1 s; otherwise it walks.
/// Velocity steps are in world coordinates and defined as in Metrics. Steps within 1 s after a change of
/// frame and steps of the same entities at other times are separate figures.
///
/// `truth` must outlive the FrameMetrics. Belongs to one thread at a time.
class FrameMetrics {
 public:
  FrameMetrics(const scenario::Source& truth, double start_s);

  void frame(double time_s, std::span<const ShownPose> shown);

  /// Adds the samples of another run of the same truth. figures() then describes the pictures of both runs.
  /// Call it only when both runs have ended.
  void add(const FrameMetrics& other);

  [[nodiscard]] FrameFigures figures() const;

 private:
  struct Track {
    bool is_frame = false;   // true since another entity was in the frame of this entity
    std::size_t length = 0;  // number of consecutive pictures that showed the entity, for differences
    double last_s = 0.0;
    glm::dvec3 shown{0.0}, truth{0.0};
    glm::dvec3 shown_velocity{0.0}, truth_velocity{0.0};
    bool in_frame = false;
    double step_mps = 0.0;
    double changed_s = -1e300;
    bool changes = false;
    std::vector<double> steps_mps;  // steps that are not close to a change of frame
  };

  void measure_error(const ShownPose& pose, std::span<const ShownPose> shown);
  void measure_step(const ShownPose& pose, double time_s, bool changing);
  [[nodiscard]] bool changing(std::size_t entity, double time_s) const;

  const scenario::Source* truth_;
  double start_s_;
  double frame_s_ = 0.0;
  double last_picture_s_;
  std::vector<Track> tracks_;
  FrameFigures counts_;
  std::vector<double> frame_rest_m_, frame_walk_m_, firm_rest_m_, firm_walk_m_;
  std::vector<double> change_steps_mps_, switch_steps_mps_;
};

}  // namespace reckoner::harness
