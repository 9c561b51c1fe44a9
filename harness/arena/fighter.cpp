// SPDX-License-Identifier: MIT
#include "harness/arena/fighter.hpp"

#include "scenario/builtin/builtin_source.hpp"

#include <cmath>
#include <numbers>

namespace reckoner::harness {
namespace {

constexpr double kWalkMps = 4.0;
constexpr double kDashS = 0.2;
constexpr double kJumpMps = 5.0;  // 1.3 m high, one second long
constexpr double kJumpsPerS = 0.25;
constexpr double kRiderHalfSideM = 2.5;

}  // namespace

Fighter::Fighter(FighterStyle style, std::uint64_t seed, std::uint64_t number)
    : style_(style), random_(seed, number) {
  const double half_m = style == FighterStyle::rider ? kRiderHalfSideM : 0.8 * kArenaHalfSideM;
  state_.position = {random_.uniform(-half_m, half_m), random_.uniform(-half_m, half_m), 0.0};
  heading_ = random_.uniform(-std::numbers::pi, std::numbers::pi);
  choose_activity();
  steer(0.0);
}

void Fighter::step(double step_s) {
  const bool in_air = state_.acceleration.z < 0.0f;
  state_.position +=
      glm::dvec3(state_.velocity) * step_s + 0.5 * glm::dvec3(state_.acceleration) * step_s * step_s;
  state_.velocity += state_.acceleration * static_cast<float>(step_s);
  if (in_air && state_.position.z <= 0.0) {
    state_.position.z = 0.0;
    state_.velocity.z = 0.0f;
    state_.acceleration.z = 0.0f;
  }
  left_s_ -= step_s;
  if (left_s_ <= 0.0) choose_activity();
  if (style_ == FighterStyle::acrobat && state_.acceleration.z == 0.0f &&
      random_.chance(kJumpsPerS * step_s)) {
    state_.velocity.z = static_cast<float>(kJumpMps);
    state_.acceleration.z = static_cast<float>(-scenario::kGravityMps2);
  }
  steer(step_s);
}

void Fighter::continue_from(const State& state) {
  state_ = state;
  const bool in_air = style_ == FighterStyle::acrobat && state.position.z > 0.0;
  state_.acceleration = {0.0f, 0.0f, in_air ? static_cast<float>(-scenario::kGravityMps2) : 0.0f};
  if (!in_air) {
    state_.position.z = style_ == FighterStyle::acrobat ? 0.0 : state.position.z;
    state_.velocity.z = 0.0f;
  }
  state_.angular_velocity = {};
  speed_mps_ = std::hypot(state.velocity.x, state.velocity.y);
  if (speed_mps_ > 0.1) heading_ = std::atan2(state.velocity.y, state.velocity.x);
}

void Fighter::choose_activity() {
  const double choice = random_.uniform();
  turn_rps_ = random_.uniform(-2.0, 2.0);
  if (style_ == FighterStyle::rider) {
    const bool walks = speed_mps_ == 0.0;
    speed_mps_ = walks ? kWalkMps : 0.0;
    left_s_ = walks ? random_.uniform(0.5, 1.5) : random_.uniform(1.0, 4.0);
  } else if (choice < 0.2) {
    speed_mps_ = 0.0;
    left_s_ = random_.uniform(0.3, 1.5);
  } else if (choice < 0.4) {
    speed_mps_ = kDashMps;
    turn_rps_ = 0.0;
    left_s_ = kDashS;
  } else {
    speed_mps_ = kWalkMps;
    left_s_ = random_.uniform(0.5, 2.0);
  }
}

void Fighter::steer(double step_s) {
  const double half_m = style_ == FighterStyle::rider ? kRiderHalfSideM : kArenaHalfSideM - 1.0;
  const glm::dvec3& at = state_.position;
  const bool outside = std::abs(at.x) > half_m || std::abs(at.y) > half_m;
  if (outside && at.x * std::cos(heading_) + at.y * std::sin(heading_) > 0.0) {
    heading_ = std::atan2(-at.y, -at.x);
  }
  heading_ = scenario::wrapped_angle(heading_ + turn_rps_ * step_s);
  state_.velocity.x = static_cast<float>(speed_mps_ * std::cos(heading_));
  state_.velocity.y = static_cast<float>(speed_mps_ * std::sin(heading_));
  state_.orientation = scenario::heading_orientation(heading_);
}

}  // namespace reckoner::harness
