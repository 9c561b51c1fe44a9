// SPDX-License-Identifier: MIT
#include "harness/metrics/frame_metrics.hpp"

#include "harness/metrics/measured_pictures.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {
namespace {

constexpr double kChangeS = 1.0;
constexpr double kRestS = 1.0;
constexpr double kRestM = 1e-4;

const ShownPose* find(std::span<const ShownPose> shown, std::size_t entity) {
  const auto found = std::ranges::find(shown, entity, &ShownPose::entity);
  return found == shown.end() ? nullptr : &*found;
}

}  // namespace

FrameMetrics::FrameMetrics(const scenario::Source& truth, double start_s)
    : truth_(&truth), start_s_(start_s), last_picture_s_(start_s), tracks_(truth.size()) {}

// True if the entity entered its present frame less than kChangeS ago.
bool FrameMetrics::changing(std::size_t entity, double time_s) const {
  const double first_s = truth_->entity(entity).first_s;
  const auto frame = truth_->frame_of(entity, time_s);
  // The interval between two checks is shorter than any stay in a frame.
  constexpr int kSteps = 10;
  for (int i = 1; i <= kSteps; ++i) {
    const double then_s = time_s - kChangeS * i / kSteps;
    if (then_s >= first_s && truth_->frame_of(entity, then_s) != frame) return true;
  }
  return false;
}

void FrameMetrics::frame(double time_s, std::span<const ShownPose> shown) {
  frame_s_ = time_s - last_picture_s_;
  last_picture_s_ = time_s;
  for (std::size_t i = 0; i < truth_->size(); ++i) {
    const scenario::SourceEntity& entity = truth_->entity(i);
    if (time_s < entity.first_s || time_s > entity.last_s) continue;
    const auto frame = truth_->frame_of(i, time_s);
    if (!frame) continue;
    tracks_[*frame].is_frame = true;
    counts_.frame_s += frame_s_;
  }
  for (const ShownPose& pose : shown) {
    const scenario::SourceEntity& entity = truth_->entity(pose.entity);
    const bool alive = pose.shown_time_s >= entity.first_s && pose.shown_time_s <= entity.last_s;
    if (time_s - start_s_ < kSkipRunS - kRoundingS || !alive) continue;
    const bool changes = changing(pose.entity, pose.shown_time_s);
    if (!truth_->changes_frame(pose.entity)) measure_error(pose, shown);
    measure_step(pose, time_s, changes);
  }
}

void FrameMetrics::measure_error(const ShownPose& pose, std::span<const ShownPose> shown) {
  if (tracks_[pose.entity].is_frame) return;
  const double meant_s = pose.shown_time_s;
  const auto frame = truth_->frame_of(pose.entity, meant_s);
  const ShownPose* in = frame ? find(shown, *frame) : nullptr;
  if (frame && in == nullptr) {
    ++counts_.without_frame;
    return;
  }
  const glm::dvec3 meant = truth_->pose_in(pose.entity, frame, meant_s).position;
  const glm::dvec3 shown_position =
      in != nullptr ? into_frame(in->pose, pose.pose).position : pose.pose.position;
  bool rests = meant_s - kRestS >= truth_->entity(pose.entity).first_s;
  for (double ago_s = 0.25 * kRestS; rests && ago_s <= kRestS; ago_s += 0.25 * kRestS)
    rests = glm::distance(meant, truth_->pose_in(pose.entity, frame, meant_s - ago_s).position) <= kRestM;
  // A passenger of a turret never walks, on firm ground as on a ship, so it does not count as walking.
  if (!frame && !rests && truth_->rests_in_frame(pose.entity)) return;
  auto& errors = frame ? (rests ? frame_rest_m_ : frame_walk_m_) : (rests ? firm_rest_m_ : firm_walk_m_);
  errors.push_back(glm::distance(shown_position, meant));
}

void FrameMetrics::measure_step(const ShownPose& pose, double time_s, bool changing) {
  Track& track = tracks_[pose.entity];
  const glm::dvec3 truth = truth_->pose(pose.entity, pose.shown_time_s).position;
  const double dt_s = time_s - track.last_s;
  const bool follows = track.length > 0 && dt_s > 0.0 && dt_s < 1.5 * frame_s_;
  if (!follows) track.length = 0;
  if (changing && time_s - track.changed_s > 2.0 * kChangeS) {
    track.changed_s = time_s;
    track.changes = true;
    ++counts_.frame_changes;
  }
  if (follows) {
    const glm::dvec3 shown_velocity = (pose.pose.position - track.shown) / dt_s;
    const glm::dvec3 truth_velocity = (truth - track.truth) / dt_s;
    if (track.length > 1) {
      const double step = std::max(0.0, glm::distance(shown_velocity, track.shown_velocity) -
                                            glm::distance(truth_velocity, track.truth_velocity));
      (changing ? change_steps_mps_ : track.steps_mps).push_back(step);
      if (pose.in_frame != track.in_frame) switch_steps_mps_.push_back(std::max(0.0, step - track.step_mps));
      track.step_mps = step;
    }
    track.shown_velocity = shown_velocity;
    track.truth_velocity = truth_velocity;
  }
  track.shown = pose.pose.position;
  track.truth = truth;
  track.last_s = time_s;
  track.in_frame = pose.in_frame;
  ++track.length;
}

void FrameMetrics::add(const FrameMetrics& other) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].changes = tracks_[i].changes || other.tracks_[i].changes;
    append_samples(tracks_[i].steps_mps, other.tracks_[i].steps_mps);
  }
  counts_.frame_s += other.counts_.frame_s;
  counts_.frame_changes += other.counts_.frame_changes;
  counts_.without_frame += other.counts_.without_frame;
  append_samples(frame_rest_m_, other.frame_rest_m_);
  append_samples(frame_walk_m_, other.frame_walk_m_);
  append_samples(firm_rest_m_, other.firm_rest_m_);
  append_samples(firm_walk_m_, other.firm_walk_m_);
  append_samples(change_steps_mps_, other.change_steps_mps_);
  append_samples(switch_steps_mps_, other.switch_steps_mps_);
}

FrameFigures FrameMetrics::figures() const {
  FrameFigures result = counts_;
  result.frame_rest_error_m = describe(frame_rest_m_);
  result.frame_walk_error_m = describe(frame_walk_m_);
  result.firm_rest_error_m = describe(firm_rest_m_);
  result.firm_walk_error_m = describe(firm_walk_m_);
  result.frame_change_velocity_step_mps = describe(change_steps_mps_);
  result.frame_switch_velocity_step_mps = describe(switch_steps_mps_);
  std::vector<double> others;
  for (const Track& track : tracks_) {
    if (track.changes) append_samples(others, track.steps_mps);
  }
  result.other_velocity_step_mps = describe(others);
  return result;
}

}  // namespace reckoner::harness
