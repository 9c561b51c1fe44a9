// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/measured_pictures.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// Appends samples to those of another run, so that both count together.
void append_samples(std::vector<double>& to, const std::vector<double>& from);

/// One entity as shown in a picture.
struct ShownPose {
  std::size_t entity = 0;  ///< index of the entity in the source of the truth
  Pose pose;
  double shown_time_s = 0.0;  ///< the instant that the pose shows
  bool in_frame = false;      ///< true: shown in another entity's frame
};

/// What Metrics needs to know about the run: its start, its frame rate, and how long a spawn or despawn may
/// take to arrive.
struct MetricsConfig {
  double run_start_s = 0.0;  ///< time of the first picture
  /// Frame rate that gives the duration of the first picture. The duration of each later picture is the time
  /// since the picture before it.
  double frame_rate_hz = 60.0;
  double skip_run_s = 2.0;
  double skip_entity_s = kSkipEntityS;
  double skip_teleport_s = kSkipTeleportS;
  double one_way_s = 0.0;  ///< one-way delay of the link; missing_s and ghost_s allow this plus 0.3 s
};

/// Measures shown pictures against the truth; Figures describes the results. Call frame() for every picture
/// of a run in the order of time, then figures(). Details:
/// - A pose is also left out if its shown_time_s lies in a gap or within 0.7 s after a teleport.
/// - Shown and true velocities are differences between consecutive pictures of an entity. The true velocity
///   is the difference between the true positions at the shown_time_s of these pictures. The differences
///   start anew after a picture that is left out or missing.
/// - A turn counts as a pop only above 0.1 m/s, because slower motion has no visible direction.
/// - missing_s and ghost_s leave out the first 2 s of the run and gaps, and allow for the playout delay.
/// - A teleport is settled when the shown pose is within 0.25 m, or a tenth of the jump, of the truth at its
///   shown instant.
/// - A pose is between the ends of a teleport if it is within 0.25 m of the straight line between them, and
///   farther than both 0.5 m and a quarter of the jump from each end. A prediction with a small error is
///   therefore not between the ends.
///
/// `truth` must outlive the Metrics. Belongs to one thread at a time.
class Metrics {
 public:
  Metrics(const scenario::Source& truth, const MetricsConfig& config);

  /// Measures a picture. `shown` must contain each visible entity at most once. `delay_s` is the playout
  /// delay at this picture, which is 0 in present mode.
  void frame(double time_s, std::span<const ShownPose> shown, double delay_s = 0.0);

  /// Adds a sample of the error of the client's estimate of server time, s. The caller must leave out the
  /// first 2 s of the run.
  void clock_error(double error_s) {
    clock_errors_ms_.push_back(1000.0 * (error_s < 0.0 ? -error_s : error_s));
  }

  /// Adds the samples of another run of the same truth. figures() then describes the pictures of both runs.
  /// Call it only when both runs have ended.
  void add(const Metrics& other);

  /// The figures of the run, without traffic.
  [[nodiscard]] Figures figures() const;

  /// The figures of one entity, without traffic and clock error.
  [[nodiscard]] Figures entity_figures(std::size_t entity) const;

 private:
  struct Samples {
    std::vector<double> now_error_m;
    std::vector<double> shown_error_m;
    std::vector<double> angle_error_rad;
    std::vector<double> shown_angle_error_rad;
    std::vector<double> squared_excess;
    std::vector<double> velocity_step_mps;
    std::vector<double> shown_change_mps;
    std::vector<double> true_change_mps;
    std::vector<double> delay_ms;
    std::vector<double> settle_ms;
    std::uint64_t pops = 0;
    double counted_s = 0.0;
    double missing_s = 0.0;
    double ghost_s = 0.0;
    double entity_s = 0.0;
    std::uint64_t teleports = 0;
    std::uint64_t between = 0;
    PictureCounts frames;
    void append(const Samples& other);
  };

  /// The last pictures of an entity, for differences. `length` is the number of consecutive pictures, at most
  /// 2.
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
    std::uint64_t last_picture = 0;  // index of the picture in which the entity was last shown
  };

  [[nodiscard]] bool alive(std::size_t entity, double time_s) const;
  void watch_teleport(std::size_t entity, double from_s, double to_s);
  void measure(const ShownPose& shown, double time_s, double dt_s, double grace_s);
  void measure_jump(Track& track, const ShownPose& shown, double time_s);
  std::uint64_t* exclusion(std::size_t entity, double time_s, double shown_time_s,
                           PictureCounts& counts) const;
  void extend_chain(Track& track, double dt_s, const glm::dvec3& shown, const glm::dvec3& truth);
  [[nodiscard]] Figures summarise(const Samples& samples, bool angles) const;

  const scenario::Source* truth_;
  MetricsConfig config_;
  std::vector<Track> tracks_;
  std::vector<double> clock_errors_ms_;
  std::uint64_t frame_ = 0;
  double last_picture_s_ = 0.0;
};

}  // namespace reckoner::harness
