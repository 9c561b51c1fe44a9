// SPDX-License-Identifier: MIT
#include "step.hpp"

#include <algorithm>

namespace arena {
namespace {

constexpr float kRollingPerS = 0.6f;  // share of its speed that the ball loses
constexpr double kBounce = 0.7, kKick = 1.2, kTopMps = 18.0, kRestMps = 0.05;
constexpr double kMostPushM =
    0.3;                           // in a step: a body that squeezes the ball does not push it through a wall
constexpr double kCornerM = 28.0;  // |x| + |y| of the ball; a ball in a corner could not be pushed out again

// Pushes the ball out of something that moves with `mps`, and reflects the part of its velocity that leads
// in.
void bounce(reckoner::State& ball, const Touch& touch, double bounce,
            const glm::dvec2& mps = glm::dvec2(0.0)) {
  ball.position += glm::dvec3(touch.depth_m * touch.out, 0.0);
  const double inwards = glm::dot(glm::dvec2(ball.velocity) - mps, touch.out);
  if (inwards < 0.0) ball.velocity -= glm::vec3((1.0 + bounce) * inwards * touch.out, 0.0);
}

void roll(reckoner::State& ball, double step_s) {
  ball.position += glm::dvec3(ball.velocity) * step_s;
  ball.velocity *= 1.0f - kRollingPerS * static_cast<float>(step_s);
}

// Returns false if the body does not touch the ball.
bool push(reckoner::State& ball, const reckoner::State& body) {
  if (body.position.z > 2.0 * kBallRadiusM) return false;  // it jumps over the ball
  const glm::dvec2 apart(ball.position - body.position);
  const double apart_m = glm::length(apart), most_m = kBallRadiusM + kBodyRadiusM;
  if (apart_m >= most_m || apart_m == 0.0) return false;
  const double depth_m = std::min(most_m - apart_m, kMostPushM);
  bounce(ball, {apart / apart_m, depth_m}, kKick - 1.0, glm::dvec2(body.velocity));
  return true;
}

void stay_in_hall(reckoner::State& ball, std::span<const Box> solids) {
  for (const Box& box : solids) {
    if (const auto touch = touches_box(glm::dvec2(ball.position), kBallRadiusM, box))
      bounce(ball, *touch, kBounce);
  }
  for (const int axis : {0, 1}) {
    const double at = ball.position[axis], deep_m = std::abs(at) - (kHalfSideM - kBallRadiusM);
    glm::dvec2 in(0.0);
    in[axis] = at > 0.0 ? -1.0 : 1.0;
    if (deep_m > 0.0) bounce(ball, {in, deep_m}, kBounce);
  }
  const glm::dvec2 corner{std::copysign(1.0, ball.position.x), std::copysign(1.0, ball.position.y)};
  const double deep_m = (glm::dot(corner, glm::dvec2(ball.position)) - kCornerM) / std::numbers::sqrt2;
  if (deep_m > 0.0) bounce(ball, {-corner / std::numbers::sqrt2, deep_m}, kBounce);
}

}  // namespace

void step(std::span<const Actor> actors, reckoner::State* ball, const Stage& stage, double step_s) {
  for (const Actor& actor : actors) {
    if (actor.controls) actor.body->step(*actor.controls, step_s, stage);
  }
  if (ball == nullptr) return;
  roll(*ball, step_s);
  stay_in_hall(*ball, stage.solids);
  for (const Actor& actor : actors) {
    if (push(*ball, actor.body->in_world(stage.platform))) stay_in_hall(*ball, stage.solids);
  }
  const double speed = glm::length(glm::dvec2(ball->velocity));
  if (speed > kTopMps) ball->velocity *= static_cast<float>(kTopMps / speed);
  if (speed < kRestMps) ball->velocity = glm::vec3(0.0f);
  ball->acceleration = -kRollingPerS * ball->velocity;  // other machines extrapolate with it
}

}  // namespace arena
