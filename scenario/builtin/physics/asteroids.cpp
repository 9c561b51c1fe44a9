// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/asteroids.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/physics/physics_world.hpp"
#include "scenario/builtin/physics/sampling.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/builtin/random_direction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

// The numbers of the benchmark.
constexpr double kCentreRadiusM = 5.0;     // resting sphere at the origin
constexpr double kHullRadiusM = 1.35;      // mean radius of a hull of scale 1
constexpr double kClearRadiusM = 2.0;      // free distance around a new body of scale 1
constexpr double kReturnMps2 = 10.0;       // acceleration back into the ball
constexpr double kRegainMps2 = 5.0;        // acceleration towards the body's own speed
constexpr double kSpeedTolerance = 0.001;  // difference of squared speeds that needs no correction, m^2/s^2
constexpr double kMaxStartSpinRadps = std::numbers::pi / 4.0;
constexpr std::size_t kHullPoints = 48;

struct Asteroid {
  double scale = 1.0;
  double speed_mps = 1.0;  // the speed that it regains
  glm::dvec3 at{0.0};
};

double ball_radius_m(std::size_t bodies) {
  return std::max(10.0, 50.0 * std::cbrt(static_cast<double>(bodies) / 1000.0));
}

// Evenly distributed in the ball of radius 1.
glm::dvec3 random_in_ball(Random& random) {
  return std::cbrt(random.uniform()) * random_direction(random);
}

glm::quat random_orientation(Random& random) {
  const glm::dvec3 axis = random_direction(random);
  const double half = 0.5 * random.uniform(0.0, 2.0 * std::numbers::pi);
  return {static_cast<float>(portable::cos(half)), glm::vec3(portable::sin(half) * axis)};
}

std::array<glm::dvec3, kHullPoints> random_hull(Random& random, double scale) {
  std::array<glm::dvec3, kHullPoints> points{};
  glm::dvec3 middle{0.0};
  for (glm::dvec3& point : points) {
    point = scale * kHullRadiusM * random.uniform(0.85, 1.15) * random_direction(random);
    middle += point / static_cast<double>(kHullPoints);
  }
  for (glm::dvec3& point : points)
    point -= middle;  // the body turns about its centre
  return points;
}

bool overlaps(const Asteroid& body, const std::vector<Asteroid>& others) {
  const double free_m = kClearRadiusM * body.scale;
  if (glm::length(body.at) < free_m + kCentreRadiusM) return true;
  return std::ranges::any_of(others, [&](const Asteroid& other) {
    return glm::length(body.at - other.at) < free_m + kHullRadiusM * other.scale;
  });
}

void add_asteroid(PhysicsWorld& world, std::vector<Asteroid>& asteroids, double radius_m, Random& random) {
  Asteroid body;
  body.at = radius_m * random_in_ball(random);
  const glm::quat orientation = random_orientation(random);
  body.scale = random.uniform(0.25, 1.0);
  const glm::dvec3 spin = kMaxStartSpinRadps * random_in_ball(random);
  body.speed_mps = random.uniform(1.0, 4.0);
  const glm::dvec3 velocity = body.speed_mps * random_direction(random);
  const double distance = glm::length(body.at);
  const glm::dvec3 outwards = distance > 0.0 ? body.at / distance : glm::dvec3(1.0, 0.0, 0.0);
  while (overlaps(body, asteroids))
    body.at += kClearRadiusM * body.scale * outwards;
  world.add_hull(random_hull(random, body.scale), {.pose = {body.at, orientation},
                                                   .velocity = velocity,
                                                   .angular_velocity = spin,
                                                   .mass = body.scale * body.scale * body.scale});
  asteroids.push_back(body);
}

// Outside the ball, accelerates towards the centre. Inside, brings the speed back to the body's own.
void steer(PhysicsWorld& world, std::size_t number, const Asteroid& body, double radius_m) {
  const glm::dvec3 at = world.pose(number).position;
  const glm::dvec3 velocity = world.velocity(number);
  const double distance = glm::length(at);
  if (distance > radius_m) {
    world.set_velocity(number, velocity - (kReturnMps2 * PhysicsWorld::kStepS / distance) * at);
    return;
  }
  const double speed = glm::length(velocity);
  if (speed == 0.0 || std::abs(speed * speed - body.speed_mps * body.speed_mps) <= kSpeedTolerance) return;
  const double most = kRegainMps2 * PhysicsWorld::kStepS;
  const double regained = speed + std::clamp(body.speed_mps - speed, -most, most);
  world.set_velocity(number, (regained / speed) * velocity);
}

}  // namespace

PhysicsRecording record_asteroids(const AsteroidsOptions& options) {
  Random random(options.seed);
  PhysicsWorld world(glm::dvec3(0.0));
  const double radius_m = ball_radius_m(options.bodies);
  std::vector<Asteroid> asteroids;
  for (std::size_t i = 0; i < options.bodies; ++i)
    add_asteroid(world, asteroids, radius_m, random);
  world.add_sphere(kCentreRadiusM, {.mass = 0.0});

  PhysicsRecording recording;
  recording.motion.has_orientation = true;
  for (std::size_t i = 0; i < options.bodies; ++i)
    recording.motion.entities.push_back({.id = "asteroid" + std::to_string(i + 1), .samples = {}});
  const std::int64_t settling = PhysicsWorld::steps_in(options.settling_s);
  const auto samples = std::max<std::int64_t>(1, PhysicsWorld::steps_in(options.seconds));
  for (std::int64_t step = 1 - settling; step <= samples; ++step) {
    for (std::size_t i = 0; i < options.bodies; ++i)
      steer(world, i, asteroids[i], radius_m);
    world.step();
    if (step >= 1)
      append_samples(world, static_cast<double>(step) / PhysicsWorld::kStepsPerSecond, recording.motion);
  }
  return recording;
}

}  // namespace reckoner::scenario
