// SPDX-License-Identifier: MIT
#include "server/src/ownership/owner_check.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Tolerance for single precision: a motion reduced to a limit must pass can_be().
constexpr double kRounding = 1e-3;

// A displacement of up to this time at top speed, such as a prediction makes after a loss, is shown at once
// and blended as a correction.
constexpr double kAtOnceS = 0.1;

glm::vec3 shortened(const glm::vec3& v, double most) {
  const double length = glm::length(glm::dvec3{v});
  return length > most ? glm::vec3{glm::dvec3{v} * (most / length)} : v;
}

bool in_world(const glm::dvec3& p, double size_m) {
  return std::abs(p.x) <= size_m && std::abs(p.y) <= size_m && std::abs(p.z) <= size_m;
}

}  // namespace

State within(State state, const OwnerLimits& limits) {
  state.velocity = shortened(state.velocity, limits.max_speed_mps);
  state.acceleration = shortened(state.acceleration, limits.max_acceleration_mps2);
  state.position =
      glm::clamp(state.position, glm::dvec3{-limits.world_size_m}, glm::dvec3{limits.world_size_m});
  return state;
}

OwnerCheck::OwnerCheck(const OwnerLimits& limits, const Motion& start) : limits_(limits) {
  restart(start);
}

void OwnerCheck::restart(const Motion& start) {
  last_ = start;
  purse_ = {limits_.position_slack_m, limits_.velocity_slack_mps};
}

// The budget at `time_s`: what was left at last_, which is at most the slack, and what has accrued since.
OwnerCheck::Purse OwnerCheck::purse_at(double time_s) const {
  const double dt_s = time_s - last_.time_s;
  return {purse_.way_m + limits_.max_speed_mps * dt_s,
          purse_.change_mps + limits_.max_acceleration_mps2 * dt_s};
}

bool OwnerCheck::can_be(const Motion& next) const {
  Purse purse = purse_at(next.time_s);
  purse.way_m += kRounding;
  purse.change_mps += kRounding;
  const double speed = glm::length(glm::dvec3{next.state.velocity});
  return in_world(next.state.position, limits_.world_size_m) &&
         speed <= limits_.max_speed_mps + limits_.velocity_slack_mps + kRounding &&
         glm::length(glm::dvec3{next.state.acceleration}) <= limits_.max_acceleration_mps2 + kRounding &&
         glm::distance(next.state.position, last_.state.position) <= purse.way_m &&
         glm::distance(glm::dvec3{next.state.velocity}, glm::dvec3{last_.state.velocity}) <= purse.change_mps;
}

Motion OwnerCheck::nearest(const Motion& next) const {
  const Purse purse = purse_at(next.time_s);
  Motion out = next;
  const glm::dvec3 way = next.state.position - last_.state.position;
  const double way_m = glm::length(way);
  if (way_m > purse.way_m) {
    out.state.position = last_.state.position + way * (purse.way_m / way_m);
    // Its further motion is unknown. With the owner's velocity, clients would extrapolate it faster than it
    // can move.
    out.state.velocity = glm::vec3{0.0f};
    out.state.acceleration = glm::vec3{0.0f};
  }
  const glm::vec3 change = out.state.velocity - last_.state.velocity;
  if (way_m <= purse.way_m) out.state.velocity = last_.state.velocity + shortened(change, purse.change_mps);
  out.state = within(out.state, limits_);
  return out;
}

Motion OwnerCheck::eased(const Motion& next) const {
  const glm::dvec3 expected = state_at(last_, next.time_s).position;
  const glm::dvec3 off = next.state.position - expected;
  const double off_m = glm::length(off);
  const double most_m = limits_.position_slack_m + kAtOnceS * limits_.max_speed_mps;
  if (!(off_m > most_m)) return next;
  Motion out = next;
  out.state.position = expected + off * (most_m / off_m);
  return nearest(out);
}

void OwnerCheck::carry_over(const Motion& last) {
  constexpr double kEveryS = 1.0;
  const double share = std::min(1.0, (last.time_s - allowed_s_) / kEveryS);
  allowed_s_ = last.time_s;
  purse_ = purse_at(last.time_s);
  last_ = last;
  purse_.way_m += share * kAtOnceS * limits_.max_speed_mps;
  purse_.change_mps += share * kAtOnceS * limits_.max_speed_mps;
}

bool OwnerCheck::is_leap(const Motion& next) const {
  constexpr double kLeapS = 1.0;
  const double off_m = glm::distance(next.state.position, state_at(last_, next.time_s).position);
  return off_m > purse_at(next.time_s).way_m + kLeapS * limits_.max_speed_mps;
}

void OwnerCheck::accept(const Motion& next) {
  const Purse purse = purse_at(next.time_s);
  const double way_m = glm::distance(next.state.position, last_.state.position);
  const double change_mps = glm::distance(glm::dvec3{next.state.velocity}, glm::dvec3{last_.state.velocity});
  purse_.way_m = std::clamp(purse.way_m - way_m, 0.0, limits_.position_slack_m);
  purse_.change_mps = std::clamp(purse.change_mps - change_mps, 0.0, limits_.velocity_slack_mps);
  last_ = next;
}

}  // namespace reckoner
