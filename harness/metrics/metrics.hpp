// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/measured_frames.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// One entity as it is shown in a frame.
struct ShownPose {
  std::size_t entity = 0;  ///< index in the truth's source
  Pose pose;
  double shown_time_s = 0.0;  ///< the instant that the pose means to show
  bool in_frame = false;      ///< it is shown in another entity's frame
};

/// What is left out, and how long a spawn or despawn may take to arrive.
struct MetricsConfig {
  double run_start_s = 0.0;     ///< time of the first frame
  double frame_rate_hz = 60.0;  ///< length of a first frame; later ones last as long as their times differ
  double skip_run_s = 2.0;
  double skip_entity_s = kSkipEntityS;
  double skip_teleport_s = kSkipTeleportS;
  double one_way_s = 0.0;  ///< the link's delay: grace for missing_s and ghost_s, beside 0.3 s
};

/// Measures shown frames against the truth (EVALUATION.md, Figures). Feed it every frame of a run in order of
/// time, then ask. What the contract leaves open:
/// - A frame is left out as well if its shown_time_s lies in a gap or within 0.7 s after a teleport.
/// - Shown and true velocities are differences between consecutive frames of an entity, the true one taken at
/// the
///   frames' shown_time_s; they start anew after a frame that is left out or missing.
/// - A turn counts as a pop only at 0.1 m/s or more: slower things have no visible direction.
/// - missing_s and ghost_s leave out the run's first 2 s and gaps, and allow for the delay of buffered modes.
/// - A teleport is settled when the shown pose is within 0.25 m, or a tenth of the jump, of the truth that it
///   means to show.
/// - A pose is between the ends of a teleport if it lies within 0.25 m of the straight line between them, and
///   further than 0.5 m, and a quarter of the way, from both: a prediction that is merely off does not count.
///
/// `truth` must outlive it. Belongs to one thread at a time.
class Metrics {
 public:
  Metrics(const scenario::Source& truth, const MetricsConfig& config);

  /// Takes in a frame: every entity that is visible in it, at most once. `delay_s` is how long ago entities
  /// are shown at present: 0 in present mode.
  void frame(double time_s, std::span<const ShownPose> shown, double delay_s = 0.0);

  /// Takes in how far an estimate of server time is off, s. The caller leaves the run's first 2 s out.
  void clock_error(double error_s) {
    clock_errors_ms_.push_back(1000.0 * (error_s < 0.0 ? -error_s : error_s));
  }

  /// The run's figures, without traffic.
  [[nodiscard]] Figures figures() const;

  /// The same of one entity, without the clock.
  [[nodiscard]] Figures entity_figures(std::size_t entity) const;

 private:
  struct Samples {
    std::vector<double> now_error_m;
    std::vector<double> shown_error_m;
    std::vector<double> angle_error_rad;
    std::vector<double> shown_angle_error_rad;
    std::vector<double> squared_excess;
    std::vector<double> velocity_step_mps;
    std::vector<double> delay_ms;
    std::vector<double> settle_ms;
    std::uint64_t pops = 0;
    double counted_s = 0.0;
    double missing_s = 0.0;
    double ghost_s = 0.0;
    double entity_s = 0.0;
    std::uint64_t teleports = 0;
    std::uint64_t between = 0;
    FrameCounts frames;
    void append(const Samples& other);
  };

  /// The last frames of an entity, for differences. `length` frames of them follow each other.
  struct Chain {
    int length = 0;
    double dt_s = 0.0;
    glm::dvec3 shown{0.0};
    glm::dvec3 truth{0.0};
    glm::dvec3 shown_velocity{0.0};
    glm::dvec3 truth_velocity{0.0};
  };

  struct Jump {
    double stamp_s = 0.0;
    glm::dvec3 before{0.0};
    double length_m = 0.0;
    bool settled = false;
  };

  struct Track {
    Samples samples;
    Chain chain;
    std::optional<Jump> jump;
    std::uint64_t last_frame = 0;  // number of the frame it was last shown in
  };

  [[nodiscard]] bool alive(std::size_t entity, double time_s) const;
  void watch_teleport(std::size_t entity, double from_s, double to_s);
  void measure(const ShownPose& shown, double time_s, double dt_s, double grace_s);
  void measure_jump(Track& track, const ShownPose& shown, double time_s);
  std::uint64_t* exclusion(std::size_t entity, double time_s, double shown_time_s, FrameCounts& counts) const;
  void extend_chain(Track& track, double dt_s, const glm::dvec3& shown, const glm::dvec3& truth);
  [[nodiscard]] Figures summarise(const Samples& samples, bool angles) const;

  const scenario::Source* truth_;
  MetricsConfig config_;
  std::vector<Track> tracks_;
  std::vector<double> clock_errors_ms_;
  std::uint64_t frame_ = 0;
  double last_frame_s_ = 0.0;
};

}  // namespace reckoner::harness
