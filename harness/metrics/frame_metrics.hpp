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

/// Measures shown frames of a source whose entities live in the frames of others: each where it is shown
/// against the shown pose of what it lives in, as its truth is against that of this. Feed it every frame in
/// order of time.
///
/// All leaves out a run's first 2 s, and errors leave out who goes from frame to frame. What has kept its
/// place in its frame for 1 s rests, all else walks; firm ground is the world's frame. Steps of velocity are
/// in the world, as Metrics has them: those in the 1 s after a change of frame, and those of the same
/// entities at other times.
///
/// `truth` must outlive it. One thread at a time.
class FrameMetrics {
 public:
  FrameMetrics(const scenario::Source& truth, double start_s);

  void frame(double time_s, std::span<const ShownPose> shown);

  [[nodiscard]] FrameFigures figures() const;

 private:
  struct Track {
    bool is_frame = false;   // something has lived in it
    std::size_t length = 0;  // frames that follow each other, for differences
    double last_s = 0.0;
    glm::dvec3 shown{0.0}, truth{0.0};
    glm::dvec3 shown_velocity{0.0}, truth_velocity{0.0};
    bool in_frame = false;
    double step_mps = 0.0;
    double changed_s = -1e9;
    bool changes = false;
    std::vector<double> steps_mps;  // away from changes
  };

  void measure_error(const ShownPose& pose, std::span<const ShownPose> shown);
  void measure_step(const ShownPose& pose, double time_s, bool changing);
  [[nodiscard]] bool changing(std::size_t entity, double time_s) const;

  const scenario::Source* truth_;
  double start_s_;
  double frame_s_ = 0.0;
  double last_frame_s_;
  std::vector<Track> tracks_;
  FrameFigures counts_;
  std::vector<double> frame_rest_m_, frame_walk_m_, firm_rest_m_, firm_walk_m_;
  std::vector<double> change_steps_mps_, switch_steps_mps_;
};

}  // namespace reckoner::harness
