// SPDX-License-Identifier: MIT
#include "scenario/trace/track.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cassert>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

constexpr double kShortestTeleportM = 1.0;
constexpr double kRoundingS = 1e-9;  // allows for rounded decimal times

// Derivative of the parabola through three points, at the middle point. The arguments are the displacement
// and the duration of the step before that point and of the step after it.
glm::dvec3 middle_tangent(const glm::dvec3& step0, double h0, const glm::dvec3& step1, double h1) {
  return (step0 * (h1 / h0) + step1 * (h0 / h1)) / (h0 + h1);
}

// Displacement since the start of a cubic Hermite curve, at the fraction `u` of its duration `h`. The total
// displacement is `step`; the rates at the ends are v0 and v1. The result is exactly zero at u = 0.
glm::dvec3 hermite(const glm::dvec3& step, const glm::dvec3& v0, const glm::dvec3& v1, double h, double u) {
  const double w = 1.0 - u;
  return step * (u * u * (3.0 - 2.0 * u)) + v0 * (h * u * w * w) - v1 * (h * u * u * w);
}

}  // namespace

Track::Track(std::span<const TrackSample> samples, double teleport_mps, double gap_s)
    : longest_step_s_(gap_s + kRoundingS) {
  assert(!samples.empty());
  add_knots(samples, teleport_mps);
  set_tangents();
}

void Track::add_knots(std::span<const TrackSample> samples, double teleport_mps) {
  knots_.reserve(samples.size());
  for (const TrackSample& sample : samples) {
    Knot knot{.time_s = sample.time_s,
              .position = sample.position,
              .orientation = glm::normalize(sample.orientation)};
    if (!knots_.empty()) {
      Knot& last = knots_.back();
      if (glm::dot(last.orientation, knot.orientation) < 0.0) knot.orientation = -knot.orientation;
      const double distance = glm::length(knot.position - last.position);
      const double elapsed = knot.time_s - last.time_s;
      assert(elapsed > 0.0);
      last.teleports = distance > kShortestTeleportM && distance > teleport_mps * elapsed;
      if (last.teleports) {
        teleport_times_s_.push_back(knot.time_s);
      } else {
        path_length_m_ += distance;
        last.turn = rotation_log(knot.orientation * glm::conjugate(last.orientation));
      }
    }
    knots_.push_back(knot);
  }
}

void Track::set_tangents() {
  for (std::size_t i = 0; i < knots_.size(); ++i) {
    Knot& knot = knots_[i];
    const Knot* const before = i > 0 && !knots_[i - 1].teleports ? &knots_[i - 1] : nullptr;
    const Knot* const after = i + 1 < knots_.size() && !knot.teleports ? &knots_[i + 1] : nullptr;
    const double h0 = before != nullptr ? knot.time_s - before->time_s : 0.0;
    const double h1 = after != nullptr ? after->time_s - knot.time_s : 0.0;
    if (before != nullptr && after != nullptr) {
      knot.velocity =
          middle_tangent(knot.position - before->position, h0, after->position - knot.position, h1);
      knot.angular_velocity = middle_tangent(before->turn, h0, knot.turn, h1);
    } else if (before != nullptr) {
      knot.velocity = (knot.position - before->position) / h0;
      knot.angular_velocity = before->turn / h0;
    } else if (after != nullptr) {
      knot.velocity = (after->position - knot.position) / h1;
      knot.angular_velocity = knot.turn / h1;
    }
  }
  for (std::size_t i = 0; i + 1 < knots_.size(); ++i) {
    knots_[i].turn_end_rate =
        angular_velocity_to_rotation_rate(knots_[i].turn, knots_[i + 1].angular_velocity);
  }
}

const Track::Knot& Track::knot_before(double time_s) const {
  const auto later = std::upper_bound(knots_.begin(), knots_.end(), time_s,
                                      [](double t, const Knot& knot) { return t < knot.time_s; });
  return later == knots_.begin() ? knots_.front() : *(later - 1);
}

Pose Track::pose(double time_s) const {
  const Knot& from = knot_before(time_s);
  const bool keeps_pose = &from == &knots_.back() || from.teleports || time_s <= from.time_s;
  if (keeps_pose) return {from.position, glm::quat(from.orientation)};
  const Knot& to = *(&from + 1);
  const double h = to.time_s - from.time_s;
  const double u = (time_s - from.time_s) / h;
  const glm::dvec3 step = hermite(to.position - from.position, from.velocity, to.velocity, h, u);
  const glm::dvec3 turn = hermite(from.turn, from.angular_velocity, from.turn_end_rate, h, u);
  const glm::dquat orientation = glm::normalize(rotation_exp(turn) * from.orientation);
  return {from.position + step, glm::quat(orientation)};
}

bool Track::teleports_within(double from_s, double to_s) const {
  const auto first = std::upper_bound(teleport_times_s_.begin(), teleport_times_s_.end(), from_s);
  return first != teleport_times_s_.end() && *first <= to_s;
}

bool Track::in_gap(double time_s) const {
  const Knot& from = knot_before(time_s);
  if (&from == &knots_.back() || time_s <= from.time_s) return false;
  return (&from + 1)->time_s - from.time_s > longest_step_s_;
}

double Track::gaps_s() const {
  double sum_s = 0.0;
  for (std::size_t i = 0; i + 1 < knots_.size(); ++i) {
    const double step_s = knots_[i + 1].time_s - knots_[i].time_s;
    if (step_s > longest_step_s_) sum_s += step_s;
  }
  return sum_s;
}

}  // namespace reckoner::scenario
