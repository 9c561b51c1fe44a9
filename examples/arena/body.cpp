// SPDX-License-Identifier: MIT
#include "body.hpp"

#include <algorithm>
#include <cstring>

#include <glm/common.hpp>

namespace arena {

static constexpr float kDashS = 0.18f, kDashPauseS = 1.0f, kPadPauseS = 0.6f;
static constexpr float kJumpMps = 5.0f, kGravityMps2 = 9.81f;

void Body::step(const Controls& controls, double step_s, const Stage& stage) {
  fired_ = {}, used_pad_ = false;
  const auto run_down = [&](float& left_s) { left_s = std::max(left_s - static_cast<float>(step_s), 0.0f); };
  run_down(memory_.dash_left_s), run_down(memory_.next_dash_s), run_down(memory_.next_pad_s);
  std::for_each(memory_.next_shot_s.begin(), memory_.next_shot_s.end(), run_down);
  move(step_s);
  if (aboard()) {  // the controls are directions in the world, the body lives on the deck
    const double turn = stage.platform ? heading_of(stage.platform->orientation) : 0.0;
    steer(turned(controls, -turn), step_s);
  } else {
    steer(controls, step_s);
    for (const Box& box : stage.solids)
      stay_out(box);
    stay_inside();
    use_pad();
  }
  if (stage.platform && build_.boards) change_frame(*stage.platform);
  fire(controls);
}

void Body::move(double step_s) {
  state_.position +=
      glm::dvec3(state_.velocity) * step_s + 0.5 * glm::dvec3(state_.acceleration) * step_s * step_s;
  state_.velocity.z += state_.acceleration.z * static_cast<float>(step_s);
  if (memory_.in_air != 0 && state_.position.z <= 0.0) {
    state_.position.z = state_.velocity.z = state_.acceleration.z = 0.0f;
    memory_.in_air = 0;
  }
}

void Body::steer(const Controls& controls, double step_s) {
  const double want = glm::length(controls.walk);
  const glm::dvec2 walk = want > 1.0 ? controls.walk / want : controls.walk;
  if (controls.dash && memory_.next_dash_s == 0.0f && want > 0.1) {
    memory_.dash_left_s = kDashS;
    memory_.next_dash_s = kDashPauseS;
    state_.velocity = glm::vec3(kDashMps * controls.walk / want, state_.velocity.z);
  }
  if (memory_.dash_left_s == 0.0f) {
    const glm::dvec2 change = kWalkMps * walk - glm::dvec2(state_.velocity);
    const double size = glm::length(change), most = build_.grip_mps2 * step_s;
    state_.velocity += glm::vec3(size > most ? change * (most / size) : change, 0.0);
  }
  if (controls.jump && memory_.in_air == 0) {
    state_.velocity.z = kJumpMps;
    state_.acceleration.z = -kGravityMps2;
    memory_.in_air = 1;
  }
  state_.orientation = facing(controls.aim_rad);
}

// Pushes the body out of a box, and takes the part of its velocity that leads into the box.
void Body::stay_out(const Box& box) {
  const auto touch = touches_box(glm::dvec2(state_.position), kBodyRadiusM, box);
  if (!touch) return;
  state_.position += glm::dvec3(touch->depth_m * touch->out, 0.0);
  const double inwards = glm::dot(glm::dvec2(state_.velocity), touch->out);
  if (inwards < 0.0) state_.velocity -= glm::vec3(inwards * touch->out, 0.0);
}

void Body::stay_inside() {
  for (const int axis : {0, 1}) {
    const double most = kHalfSideM - kBodyRadiusM, at = state_.position[axis];
    if (std::abs(at) <= most) continue;
    state_.position[axis] = std::copysign(most, at);
    if (at * state_.velocity[axis] > 0.0) state_.velocity[axis] = 0.0f;
  }
}

// A body that stands on a pad comes out before the opposite one.
void Body::use_pad() {
  const glm::dvec2 at(state_.position);
  for (const glm::dvec2& pad : kPads) {
    if (state_.position.z >= 0.1 || memory_.next_pad_s > 0.0f || glm::distance(pad, at) >= kPadRadiusM)
      continue;
    state_.position = {exit_of(pad), 0.0};
    memory_.next_pad_s = kPadPauseS;
    used_pad_ = true;
    return;
  }
}

// Steps onto the platform or off it.
void Body::change_frame(const reckoner::State& platform) {
  if (!aboard()) {
    const reckoner::State local = reckoner::into_frame(platform, state_);
    if (!on_deck(local.position) || local.position.z > 0.05) return;
    continue_from(local, true);
  } else if (!on_deck(state_.position)) {
    continue_from(in_world(platform), false);
  }
}

void Body::fire(const Controls& controls) {
  for (std::size_t weapon = 0; weapon < kWeapons; ++weapon) {
    fired_[weapon] = controls.fires[weapon] && memory_.next_shot_s[weapon] == 0.0f;
    if (fired_[weapon]) memory_.next_shot_s[weapon] = static_cast<float>(kPauseS[weapon]);
  }
}

void Body::continue_from(const reckoner::State& state, bool aboard) {
  memory_.in_air = state.acceleration.z < -0.5f * kGravityMps2 ? 1 : 0;
  memory_.aboard = aboard ? 1 : 0;
  state_ = state;
  // Gravity is all that accelerates a body between two steps. That of a turning deck is not the body's own.
  state_.acceleration = {0.0f, 0.0f, memory_.in_air != 0 ? -kGravityMps2 : 0.0f};
  state_.angular_velocity = {};
}

void Body::restore(const reckoner::State& world, std::span<const std::byte> bytes,
                   const reckoner::State& platform) {
  Memory memory;
  if (bytes.size() == sizeof memory) std::memcpy(&memory, bytes.data(), sizeof memory);
  const bool aboard = memory.aboard != 0;
  continue_from(aboard ? reckoner::into_frame(platform, world) : world, aboard);
  memory_ = memory;
}

reckoner::State Body::in_world(const std::optional<reckoner::State>& platform) const {
  return aboard() && platform ? reckoner::out_of_frame(*platform, state_) : state_;
}

}  // namespace arena
