// SPDX-License-Identifier: MIT
#include "body.hpp"

#include <algorithm>

#include <glm/common.hpp>

namespace arena {

static constexpr double kDashS = 0.18, kDashPauseS = 1.0;
static constexpr float kJumpMps = 5.0f, kGravityMps2 = 9.81f;

void Body::step(const Controls& controls, double step_s, std::span<const Box> solids) {
  const bool in_air = state_.acceleration.z < 0.0f;
  state_.position +=
      glm::dvec3(state_.velocity) * step_s + 0.5 * glm::dvec3(state_.acceleration) * step_s * step_s;
  state_.velocity.z += state_.acceleration.z * static_cast<float>(step_s);
  if (in_air && state_.position.z <= 0.0)
    state_.position.z = state_.velocity.z = state_.acceleration.z = 0.0f;

  next_dash_s_ = std::max(next_dash_s_ - step_s, 0.0);
  dash_left_s_ = std::max(dash_left_s_ - step_s, 0.0);
  const double want = glm::length(controls.walk);
  const glm::dvec2 walk = want > 1.0 ? controls.walk / want : controls.walk;
  if (controls.dash && next_dash_s_ == 0.0 && want > 0.1) {
    dash_left_s_ = kDashS;
    next_dash_s_ = kDashPauseS;
    state_.velocity = glm::vec3(kDashMps * controls.walk / want, state_.velocity.z);
  }
  if (dash_left_s_ == 0.0) {
    const glm::dvec2 change = kWalkMps * walk - glm::dvec2(state_.velocity);
    const double size = glm::length(change), most = grip_mps2_ * step_s;
    state_.velocity += glm::vec3(size > most ? change * (most / size) : change, 0.0);
  }
  if (controls.jump && state_.acceleration.z == 0.0f) {
    state_.velocity.z = kJumpMps;
    state_.acceleration.z = -kGravityMps2;
  }
  state_.orientation = facing(controls.aim_rad);
  for (const Box& box : solids)
    stay_out(box);
  for (const int axis : {0, 1}) {
    const double most = kHalfSideM - kBodyRadiusM, at = state_.position[axis];
    if (std::abs(at) <= most) continue;
    state_.position[axis] = std::copysign(most, at);
    if (at * state_.velocity[axis] > 0.0) state_.velocity[axis] = 0.0f;
  }
}

bool Body::use_pad() {
  const glm::dvec2 at(state_.position);
  for (const glm::dvec2& pad : kPads) {
    if (state_.position.z >= 0.1 || glm::distance(pad, at) >= kPadRadiusM) continue;
    state_.position = {exit_of(pad), 0.0};
    return true;
  }
  return false;
}

// Pushes the body out of a box, and takes the part of its velocity that leads into the box.
void Body::stay_out(const Box& box) {
  const glm::dvec2 at(state_.position);
  const glm::dvec2 nearest = glm::clamp(at, box.middle - box.half, box.middle + box.half);
  const double away_m = glm::distance(at, nearest);
  if (away_m >= kBodyRadiusM || away_m == 0.0) return;
  const glm::dvec2 out = (at - nearest) / away_m;
  state_.position += glm::dvec3((kBodyRadiusM - away_m) * out, 0.0);
  const double inwards = glm::dot(glm::dvec2(state_.velocity), out);
  if (inwards < 0.0) state_.velocity -= glm::vec3(inwards * out, 0.0);
}

}  // namespace arena
