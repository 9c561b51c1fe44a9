// SPDX-License-Identifier: MIT
#include "harness/metrics/metrics.hpp"

#include "harness/metrics/measured_pictures.hpp"
#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kSpawnGraceS = 0.3;
constexpr double kTurnMinMps = 0.1;
// The limits above which a velocity step or a turn is a pop, because people notice it (De Bruyn and Orban
// 1988).
constexpr double kPopTurnRad = 1.8 * 3.14159265358979323846 / 180.0;
constexpr double kPopShare = 0.07;
constexpr double kPopFloorMps = 0.1;

double turn_rad(const glm::dvec3& from, const glm::dvec3& to) {
  return portable::atan2(glm::length(glm::cross(from, to)), glm::dot(from, to));
}

// True if `p` lies between `a` and `b`, which means close to the line between them and far from both ends.
bool is_between(const glm::dvec3& p, const glm::dvec3& a, const glm::dvec3& b) {
  const glm::dvec3 displacement = b - a;
  const double length = glm::length(displacement);
  const double margin = std::max(0.5, 0.25 * length);
  if (length < 2.0 * margin) return false;
  const double along = glm::dot(p - a, displacement) / length;
  const double off = glm::length(p - a - displacement * (along / length));
  return off < 0.25 && along > margin && along < length - margin;
}

}  // namespace

void append_samples(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void Metrics::Samples::append(const Samples& other) {
  append_samples(now_error_m, other.now_error_m);
  append_samples(shown_error_m, other.shown_error_m);
  append_samples(angle_error_rad, other.angle_error_rad);
  append_samples(shown_angle_error_rad, other.shown_angle_error_rad);
  append_samples(squared_excess, other.squared_excess);
  append_samples(velocity_step_mps, other.velocity_step_mps);
  append_samples(shown_change_mps, other.shown_change_mps);
  append_samples(true_change_mps, other.true_change_mps);
  append_samples(delay_ms, other.delay_ms);
  append_samples(settle_ms, other.settle_ms);
  pops += other.pops;
  counted_s += other.counted_s;
  missing_s += other.missing_s;
  ghost_s += other.ghost_s;
  entity_s += other.entity_s;
  teleports += other.teleports;
  between += other.between;
  frames.expected += other.frames.expected;
  frames.shown += other.frames.shown;
  frames.counted += other.frames.counted;
  frames.run_start += other.frames.run_start;
  frames.entity_start += other.frames.entity_start;
  frames.teleport += other.frames.teleport;
  frames.gap += other.frames.gap;
}

Metrics::Metrics(const scenario::Source& truth, const MetricsConfig& config)
    : truth_(&truth), config_(config), tracks_(truth.size()) {}

bool Metrics::alive(std::size_t entity, double time_s) const {
  const scenario::SourceEntity& info = truth_->entity(entity);
  return time_s >= info.first_s && time_s <= info.last_s;
}

void Metrics::frame(double time_s, std::span<const ShownPose> shown, double delay_s) {
  const double dt_s = frame_ == 0 ? 1.0 / config_.frame_rate_hz : time_s - last_picture_s_;
  const double before_s = frame_ == 0 ? time_s : last_picture_s_;
  ++frame_;
  const double grace_s = kSpawnGraceS + config_.one_way_s + delay_s;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!alive(i, time_s)) continue;
    tracks_[i].samples.entity_s += dt_s;
    watch_teleport(i, std::max(before_s, truth_->entity(i).first_s), time_s);
  }
  for (const ShownPose& pose : shown) {
    tracks_[pose.entity].last_picture = frame_;
    measure(pose, time_s, dt_s, grace_s);
  }
  const bool settled = time_s - config_.run_start_s > config_.skip_run_s - kRoundingS;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Samples& samples = tracks_[i].samples;
    const bool is_shown = tracks_[i].last_picture == frame_;
    if (!is_shown) tracks_[i].chain.length = 0;
    if (!settled || !alive(i, time_s) || truth_->in_gap(i, time_s)) continue;
    if (time_s - truth_->entity(i).first_s <= grace_s) continue;
    ++samples.frames.expected;
    if (is_shown) {
      ++samples.frames.shown;
    } else {
      samples.missing_s += dt_s;
    }
  }
  last_picture_s_ = time_s;
}

void Metrics::watch_teleport(std::size_t entity, double from_s, double to_s) {
  if (!(from_s < to_s) || !truth_->teleports_within(entity, from_s, to_s)) return;
  // The source can only say whether a teleport is in an interval. Bisect until its time is known to a
  // microsecond.
  while (to_s - from_s > 1e-6) {
    const double middle = 0.5 * (from_s + to_s);
    (truth_->teleports_within(entity, from_s, middle) ? to_s : from_s) = middle;
  }
  Track& track = tracks_[entity];
  const glm::dvec3 before = truth_->pose(entity, from_s).position;
  const double length = glm::length(truth_->pose(entity, to_s).position - before);
  track.jump = Jump{to_s, before, length, false};
  ++track.samples.teleports;
}

std::uint64_t* Metrics::exclusion(std::size_t entity, double time_s, double shown_time_s,
                                  PictureCounts& counts) const {
  const double first_s = truth_->entity(entity).first_s;
  if (time_s - config_.run_start_s < config_.skip_run_s - kRoundingS) return &counts.run_start;
  if (time_s - first_s < config_.skip_entity_s - kRoundingS || shown_time_s < first_s) {
    return &counts.entity_start;
  }
  const double reach = config_.skip_teleport_s;
  if (truth_->teleports_within(entity, time_s - reach, time_s) ||
      truth_->teleports_within(entity, shown_time_s - reach, shown_time_s)) {
    return &counts.teleport;
  }
  if (truth_->in_gap(entity, time_s) || truth_->in_gap(entity, shown_time_s)) return &counts.gap;
  return nullptr;
}

void Metrics::measure(const ShownPose& shown, double time_s, double dt_s, double grace_s) {
  Track& track = tracks_[shown.entity];
  Samples& samples = track.samples;
  const scenario::SourceEntity& info = truth_->entity(shown.entity);
  if (!alive(shown.entity, time_s)) {
    track.chain.length = 0;
    const bool settled = time_s - config_.run_start_s > config_.skip_run_s - kRoundingS;
    if (settled && (time_s < info.first_s || time_s - info.last_s > grace_s)) samples.ghost_s += dt_s;
    return;
  }
  measure_jump(track, shown, time_s);
  if (std::uint64_t* left_out = exclusion(shown.entity, time_s, shown.shown_time_s, samples.frames)) {
    ++*left_out;
    track.chain.length = 0;
    return;
  }
  ++samples.frames.counted;
  samples.counted_s += dt_s;
  const Pose now = truth_->pose(shown.entity, time_s);
  // If the client's clock runs ahead, the shown instant may be after the end of the truth. Use the last pose
  // then.
  const Pose meant = truth_->pose(shown.entity, std::min(shown.shown_time_s, info.last_s));
  samples.now_error_m.push_back(glm::length(shown.pose.position - now.position));
  samples.shown_error_m.push_back(glm::length(shown.pose.position - meant.position));
  if (info.has_orientation) {
    samples.angle_error_rad.push_back(angle_between(shown.pose.orientation, now.orientation));
    samples.shown_angle_error_rad.push_back(angle_between(shown.pose.orientation, meant.orientation));
  }
  samples.delay_ms.push_back(1000.0 * (time_s - shown.shown_time_s));
  extend_chain(track, dt_s, shown.pose.position, meant.position);
}

void Metrics::measure_jump(Track& track, const ShownPose& shown, double time_s) {
  if (!track.jump || time_s < track.jump->stamp_s) return;
  Jump& jump = *track.jump;
  const scenario::SourceEntity& info = truth_->entity(shown.entity);
  const double meant_s = std::clamp(shown.shown_time_s, info.first_s, info.last_s);
  if (!jump.settled && meant_s >= jump.stamp_s) {
    const double error = glm::length(shown.pose.position - truth_->pose(shown.entity, meant_s).position);
    jump.settled = error <= std::max(0.25, 0.1 * jump.length_m);
    if (jump.settled) track.samples.settle_ms.push_back(1000.0 * (time_s - jump.stamp_s));
  }
  const bool watched = time_s - jump.stamp_s <= config_.skip_teleport_s + (time_s - shown.shown_time_s);
  const glm::dvec3 after = truth_->pose(shown.entity, std::max(meant_s, jump.stamp_s)).position;
  if (watched && is_between(shown.pose.position, jump.before, after)) ++track.samples.between;
}

void Metrics::extend_chain(Track& track, double dt_s, const glm::dvec3& shown, const glm::dvec3& truth) {
  Chain& chain = track.chain;
  if (chain.length > 0 && dt_s > 0.0) {
    const glm::dvec3 shown_velocity = (shown - chain.shown) / dt_s;
    const glm::dvec3 truth_velocity = (truth - chain.truth) / dt_s;
    if (chain.length > 1) {
      const glm::dvec3 shown_change = shown_velocity - chain.shown_velocity;
      const glm::dvec3 truth_change = truth_velocity - chain.truth_velocity;
      const double shown_change_mps = glm::length(shown_change), true_change_mps = glm::length(truth_change);
      const double step = std::max(0.0, shown_change_mps - true_change_mps);
      track.samples.velocity_step_mps.push_back(step);
      track.samples.shown_change_mps.push_back(shown_change_mps);
      track.samples.true_change_mps.push_back(true_change_mps);
      const glm::dvec3 excess = (shown_change - truth_change) / (0.5 * (dt_s + chain.dt_s));
      track.samples.squared_excess.push_back(glm::dot(excess, excess));
      const double speed = glm::length(chain.shown_velocity);
      const bool visible = speed >= kTurnMinMps && glm::length(shown_velocity) >= kTurnMinMps;
      const double turn =
          turn_rad(chain.shown_velocity, shown_velocity) - turn_rad(chain.truth_velocity, truth_velocity);
      if (step > kPopShare * speed + kPopFloorMps || (visible && turn > kPopTurnRad)) ++track.samples.pops;
    }
    chain.shown_velocity = shown_velocity;
    chain.truth_velocity = truth_velocity;
  }
  chain.shown = shown;
  chain.truth = truth;
  chain.dt_s = dt_s;
  chain.length = std::min(chain.length + 1, 2);
}

void Metrics::add(const Metrics& other) {
  for (std::size_t i = 0; i < tracks_.size(); ++i)
    tracks_[i].samples.append(other.tracks_[i].samples);
  append_samples(clock_errors_ms_, other.clock_errors_ms_);
}

Figures Metrics::summarise(const Samples& samples, bool angles) const {
  Figures result;
  result.now_error_m = describe(samples.now_error_m);
  result.shown_error_m = describe(samples.shown_error_m);
  if (angles) result.angle_error_rad = describe(samples.angle_error_rad);
  if (angles) result.shown_angle_error_rad = describe(samples.shown_angle_error_rad);
  double squares = 0.0;
  for (const double square : samples.squared_excess)
    squares += square;
  if (squares > 0.0) {
    result.excess_acceleration_mps2 = std::sqrt(squares / static_cast<double>(samples.squared_excess.size()));
  }
  result.velocity_step_mps = describe(samples.velocity_step_mps);
  result.shown_change_mps = describe(samples.shown_change_mps);
  result.true_change_mps = describe(samples.true_change_mps);
  result.pops_per_s = samples.counted_s > 0.0 ? static_cast<double>(samples.pops) / samples.counted_s : 0.0;
  result.missing_s = samples.missing_s;
  result.ghost_s = samples.ghost_s;
  result.entity_seconds = samples.entity_s;
  result.delay_ms = describe(samples.delay_ms);
  result.teleports = samples.teleports;
  result.teleport_settle_ms = describe(samples.settle_ms).mean;
  result.between_teleport_frames = samples.between;
  result.frames = samples.frames;
  return result;
}

Figures Metrics::figures() const {
  Samples all;
  bool angles = false;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    all.append(tracks_[i].samples);
    angles = angles || truth_->entity(i).has_orientation;
  }
  Figures result = summarise(all, angles);
  if (!clock_errors_ms_.empty()) result.clock_error_ms = describe(clock_errors_ms_);
  return result;
}

Figures Metrics::entity_figures(std::size_t entity) const {
  return summarise(tracks_[entity].samples, truth_->entity(entity).has_orientation);
}

}  // namespace reckoner::harness
