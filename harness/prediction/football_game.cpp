// SPDX-License-Identifier: MIT
#include "harness/prediction/football_game.hpp"

#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <glm/geometric.hpp>

namespace reckoner::harness::football {
namespace {

constexpr double kGravityMps2 = 9.81;
constexpr double kCarRadiusM = 1.4, kBallRadiusM = 0.9;  // contacts are between spheres
constexpr double kCeilingM = 20.0;
constexpr double kGoalHalfWidthM = 8.0, kGoalHeightM = 6.0, kGoalDepthM = 6.0;
constexpr double kEngineMps2 = 16.0, kBrakeMps2 = 30.0, kBoostMps2 = 10.0;
constexpr double kEngineTopMps = 23.0, kTopMps = 34.0, kReverseMps = 10.0;
constexpr double kGripPerS = 8.0, kDriftGripPerS = 1.5;  // how fast sideways motion ends
constexpr double kBoostUsedPerS = 33.0, kBoostWonPerS = 8.0;
constexpr double kJumpMps = 6.0, kJumpWaitS = 1.0;
constexpr int kParts = 4;  // of a tick: fast bodies do not pass through each other

double height_of_rest(std::size_t body) {
  return body == kBall ? kBallRadiusM : 0.5;
}
double radius(std::size_t body) {
  return body == kBall ? kBallRadiusM : kCarRadiusM;
}

void drive(Body& car, const Keys& keys, double dt) {
  const bool is_grounded = car.position.z <= height_of_rest(0) + 1e-6;
  const glm::dvec3 forward{portable::cos(car.heading), portable::sin(car.heading), 0.0};
  const glm::dvec3 left{-forward.y, forward.x, 0.0};
  double along = glm::dot(car.velocity, forward), across = glm::dot(car.velocity, left);
  const double throttle = keys.throttle / 127.0, steer = keys.steer / 127.0;
  const bool drifts = (keys.buttons & Keys::drift) != 0;
  car.jump_wait_s = std::max(0.0, car.jump_wait_s - dt);
  if (is_grounded) {
    if (throttle * along < 0.0) {
      along += std::clamp(throttle * kBrakeMps2 * dt, -std::abs(along), std::abs(along));
    } else if (throttle > 0.0 && along < kEngineTopMps) {
      along += throttle * kEngineMps2 * (1.0 - along / kEngineTopMps) * dt;
    } else if (throttle < 0.0 && along > -kReverseMps) {
      along += throttle * kEngineMps2 * 0.5 * dt;
    } else {
      along -= 0.3 * along * dt;
    }
    across *= std::max(0.0, 1.0 - (drifts ? kDriftGripPerS : kGripPerS) * dt);
  }
  const bool boosts = (keys.buttons & Keys::boost) != 0 && car.boost > 0.0;
  if (boosts && along < kTopMps) along += kBoostMps2 * dt;
  car.boost = std::clamp(car.boost + (boosts ? -kBoostUsedPerS : kBoostWonPerS) * dt, 0.0, 100.0);
  const double up = car.velocity.z;
  car.velocity = along * forward + across * left;
  car.velocity.z = up;
  if (is_grounded && (keys.buttons & Keys::jump) != 0 && car.jump_wait_s <= 0.0) {
    car.velocity.z = kJumpMps;
    car.jump_wait_s = kJumpWaitS;
  }
  const double curvature = 0.16 / (1.0 + std::abs(along) / 12.0) * (drifts ? 1.7 : 1.0);
  const double wanted = is_grounded ? steer * curvature * along : 0.5 * steer;
  car.yaw_rate += (wanted - car.yaw_rate) * std::min(1.0, 10.0 * dt);
  car.heading += car.yaw_rate * dt;
  if (car.heading > std::numbers::pi) car.heading -= 2.0 * std::numbers::pi;
  if (car.heading < -std::numbers::pi) car.heading += 2.0 * std::numbers::pi;
}

void bounce(double& position, double& velocity, double limit, double restitution) {
  if (std::abs(position) <= limit) return;
  const double side = position < 0.0 ? -1.0 : 1.0;
  position = side * limit;
  if (velocity * side > 0.0) velocity *= -restitution;
}

void collide_with_pitch(Body& body, std::size_t index) {
  const double r = radius(index), restitution = index == kBall ? 0.7 : 0.3;
  const double rest_m = height_of_rest(index);
  if (body.position.z < rest_m) {
    body.position.z = rest_m;
    if (body.velocity.z < 0.0) {
      const bool rests = index != kBall || body.velocity.z > -0.8;
      body.velocity.z = rests ? 0.0 : -0.6 * body.velocity.z;
    }
  }
  if (body.position.z > kCeilingM - r) {
    body.position.z = kCeilingM - r;
    if (body.velocity.z > 0.0) body.velocity.z *= -restitution;
  }
  bounce(body.position.y, body.velocity.y, kHalfWidthM - r, restitution);
  const bool in_goal =
      index == kBall && std::abs(body.position.y) < kGoalHalfWidthM && body.position.z < kGoalHeightM;
  bounce(body.position.x, body.velocity.x, kHalfLengthM - r + (in_goal ? kGoalDepthM : 0.0), restitution);
}

// An impulse along the line between two spheres (masses: a car 5, the ball 1).
bool collide(World& world, std::size_t i, std::size_t j) {
  Body &a = world.bodies[i], &b = world.bodies[j];
  const glm::dvec3 between = b.position - a.position;
  const double apart_m = glm::length(between), sum_m = radius(i) + radius(j);
  if (apart_m >= sum_m || apart_m < 1e-9) return false;
  const glm::dvec3 normal = between / apart_m;
  const bool has_ball = j == kBall;
  const double share_b = has_ball ? 5.0 / 6.0 : 0.5;
  constexpr double kApartShare = 0.4;  // bodies that overlap come apart over several parts of a tick
  const double overlap_m = kApartShare * (sum_m - apart_m);
  a.position -= (1.0 - share_b) * overlap_m * normal;
  b.position += share_b * overlap_m * normal;
  const double closing = glm::dot(a.velocity - b.velocity, normal);
  if (closing <= 0.0) return true;
  const double restitution = has_ball ? 0.8 : 0.4;
  const double change = (1.0 + restitution) * closing;
  a.velocity -= (1.0 - share_b) * change * normal;
  b.velocity += share_b * change * normal;
  return true;
}

}  // namespace

std::array<std::byte, Keys::kBytes> Keys::bytes() const {
  return {std::byte{buttons}, static_cast<std::byte>(throttle), static_cast<std::byte>(steer)};
}

Keys Keys::from(std::span<const std::byte> bytes) {
  if (bytes.size() != kBytes) return {};
  return {std::to_integer<std::uint8_t>(bytes[0]), static_cast<std::int8_t>(bytes[1]),
          static_cast<std::int8_t>(bytes[2])};
}

State Body::state() const {
  State s;
  s.position = position;
  s.velocity = glm::vec3(velocity);
  s.orientation = {static_cast<float>(portable::cos(0.5 * heading)), 0.0f, 0.0f,
                   static_cast<float>(portable::sin(0.5 * heading))};
  s.angular_velocity.z = static_cast<float>(yaw_rate);
  return s;
}

std::array<std::byte, Body::kBytes> Body::bytes() const {
  const std::array<double, 7> numbers{velocity.x, velocity.y, velocity.z, heading,
                                      yaw_rate,   boost,      jump_wait_s};
  std::array<std::byte, kBytes> out{};
  std::memcpy(out.data(), numbers.data(), kBytes);
  return out;
}

void Body::restore(const State& state, std::span<const std::byte> bytes) {
  if (bytes.size() != kBytes) return follow(state);
  std::array<double, 7> n{};
  std::memcpy(n.data(), bytes.data(), kBytes);
  position = state.position;
  velocity = {n[0], n[1], n[2]};
  heading = n[3];
  yaw_rate = n[4];
  boost = n[5];
  jump_wait_s = n[6];
}

void Body::follow(const State& state) {
  position = state.position;
  velocity = glm::dvec3(state.velocity);
  heading = 2.0 * portable::atan2(state.orientation.z, state.orientation.w);
  yaw_rate = state.angular_velocity.z;
}

void World::kick_off() {
  for (std::size_t i = 0; i < kCars; ++i) {
    const double team = i % 2 == 0 ? -1.0 : 1.0;
    const std::size_t pair = i / 2;
    const double row = static_cast<double>(pair);
    bodies[i] = {};
    bodies[i].position = {team * (14.0 + 10.0 * row), 12.0 * (row - 1.0), height_of_rest(i)};
    bodies[i].heading = team < 0.0 ? 0.0 : std::numbers::pi;
  }
  bodies[kBall] = {};
  bodies[kBall].position.z = kBallRadiusM;
}

Contacts World::step(const Inputs& inputs, double tick_s) {
  for (std::size_t i = 0; i < kCars; ++i) {
    if (inputs[i]) drive(bodies[i], *inputs[i], tick_s);
  }
  Body& ball = bodies[kBall];
  const bool rolls = ball.position.z <= kBallRadiusM + 1e-6;
  ball.velocity -= (rolls ? 0.4 : 0.03) * tick_s * ball.velocity;
  Contacts contacts;
  const double dt = tick_s / kParts;
  for (int part = 0; part < kParts; ++part) {
    for (std::size_t i = 0; i < kBodies; ++i) {
      if (bodies[i].position.z > height_of_rest(i) || bodies[i].velocity.z > 0.0)
        bodies[i].velocity.z -= kGravityMps2 * dt;
      bodies[i].position += dt * bodies[i].velocity;
      collide_with_pitch(bodies[i], i);
    }
    if (!has_contacts) continue;
    for (std::size_t i = 0; i < kBodies; ++i) {
      for (std::size_t j = i + 1; j < kBodies; ++j) {
        if (collide(*this, i, j)) contacts.add(i, j);
      }
    }
  }
  return contacts;
}

bool World::is_goal() const {
  return std::abs(bodies[kBall].position.x) > kHalfLengthM + 2.0;
}

}  // namespace reckoner::harness::football
