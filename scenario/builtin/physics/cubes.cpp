// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/cubes.hpp"

#include "scenario/builtin/physics/physics_world.hpp"
#include "scenario/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

// The numbers of the challenge.
constexpr double kGravityMps2 = 20.0;
constexpr double kPlayerEdgeM = 1.5;
constexpr double kCubeEdgeM = 0.4;
constexpr int kCubesPerSide = 30;
constexpr double kDensity = 1.0;  // kg/m^3
constexpr double kDamping = 0.01;
constexpr double kFriction = 200.0;
constexpr double kMaxSpeedMps = 32.0;
constexpr double kMaxSpinRadps = 16.0;
constexpr double kMoveN = 120.0;  // for each axis
constexpr double kPushM = 2.0;    // reach
constexpr double kPushMps2 = 500.0;
constexpr double kPullM = 1.8;
constexpr double kPullMps2 = 2000.0;
constexpr double kForceAt1M = 200.0;  // acceleration by pushing and pulling at a distance of 1 m, m/s^2

constexpr double kHomeM = 13.0;  // beyond this distance from the centre, the player moves back

// What the player does for some time.
struct Phase {
  enum class Kind : std::uint8_t { rest, roll, push, pull };
  Kind kind = Kind::rest;
  double until_s = 0.0;
  double heading = 0.0;  // rad
};

Phase next_phase(Random& random, double from_s) {
  const double choice = random.uniform();
  Phase phase;
  if (choice < 0.1) {
    phase.kind = Phase::Kind::rest;
  } else if (choice < 0.5) {
    phase.kind = Phase::Kind::roll;
  } else if (choice < 0.75) {
    phase.kind = Phase::Kind::push;
  } else {
    phase.kind = Phase::Kind::pull;
  }
  phase.until_s = from_s + random.uniform(0.5, 2.5);
  phase.heading = random.uniform(0.0, 2.0 * std::numbers::pi);
  return phase;
}

double along(double direction, double speed) {
  if (std::abs(direction) < 0.38) return 0.0;  // a key of an axis is pressed or not; eight directions
  const double force = std::copysign(kMoveN, direction);
  return force * speed < 0.0 ? 2.0 * force : force;
}

class Game {
 public:
  explicit Game(std::uint64_t seed) : world_({0.0, 0.0, -kGravityMps2}), random_(seed) {
    // Bullet multiplies the coefficients of both bodies.
    const double friction = std::sqrt(kFriction);
    world_.add_ground(friction);
    add(kPlayerEdgeM, {0.0, 0.0, 10.0}, friction, false);
    for (int row = 0; row < kCubesPerSide; ++row) {
      for (int column = 0; column < kCubesPerSide; ++column)
        add(kCubeEdgeM, {column - 14.5, row - 14.5, 0.5 * kCubeEdgeM}, friction, true);
    }
    world_.set_sleep_rule({.speed_mps = 0.25, .angular_speed_radps = 0.25, .after_s = 0.1});
  }

  void step(double time_s) {
    if (time_s >= phase_.until_s) phase_ = next_phase(random_, time_s);
    play();
    world_.step();
    for (std::size_t i = 0; i < world_.size(); ++i)
      limit_speed(i);
  }

  [[nodiscard]] const PhysicsWorld& world() const { return world_; }

 private:
  void add(double edge_m, const glm::dvec3& at, double friction, bool asleep) {
    world_.add_cube(edge_m, {.pose = {at},
                             .mass = kDensity * edge_m * edge_m * edge_m,
                             .friction = friction,
                             .damping = kDamping,
                             .asleep = asleep});
    masses_.push_back(kDensity * edge_m * edge_m * edge_m);
  }

  void play() {
    const glm::dvec3 at = world_.pose(0).position;
    if (phase_.kind == Phase::Kind::rest) return;
    double heading = phase_.heading;
    if (std::hypot(at.x, at.y) > kHomeM) heading = std::atan2(-at.y, -at.x);
    const glm::dvec3 velocity = world_.velocity(0);
    world_.push(0, {along(std::cos(heading), velocity.x), along(std::sin(heading), velocity.y), 0.0});
    if (phase_.kind == Phase::Kind::push) attract(at, kPushM, kPushMps2, -1.0);
    if (phase_.kind == Phase::Kind::pull) attract(at, kPullM, kPullMps2, 1.0);
  }

  void attract(const glm::dvec3& to, double reach_m, double max_mps2, double sign) {
    for (std::size_t i = 1; i < world_.size(); ++i) {
      const glm::dvec3 difference = to - world_.pose(i).position;
      const double distance = glm::length(difference);
      if (distance > reach_m || distance == 0.0) continue;
      const double acceleration = std::min(kForceAt1M / (distance * distance), max_mps2);
      world_.push(i, (sign * masses_[i] * acceleration / distance) * difference);
    }
  }

  void limit_speed(std::size_t body) {
    if (world_.asleep(body)) return;
    const glm::dvec3 velocity = world_.velocity(body);
    const double speed = glm::length(velocity);
    if (speed > kMaxSpeedMps) world_.set_velocity(body, (kMaxSpeedMps / speed) * velocity);
    const glm::dvec3 spin = world_.angular_velocity(body);
    const double rate = glm::length(spin);
    if (rate > kMaxSpinRadps) world_.set_angular_velocity(body, (kMaxSpinRadps / rate) * spin);
  }

  PhysicsWorld world_;
  Random random_;
  Phase phase_;
  std::vector<double> masses_;
};

}  // namespace

CubesRecording record_cubes(const CubesOptions& options) {
  Game game(options.seed);
  const PhysicsWorld& world = game.world();
  CubesRecording recording;
  recording.motion.has_orientation = true;
  for (std::size_t i = 0; i < world.size(); ++i)
    recording.motion.entities.push_back(
        {.id = i == 0 ? "player" : "cube" + std::to_string(i), .samples = {}});
  const auto samples = static_cast<std::int64_t>(std::llround(options.seconds / PhysicsWorld::kStepS));
  const auto touched = std::make_unique<bool[]>(world.size());  // not a vector<bool>, which has no span
  for (std::int64_t step = 1; step <= samples; ++step) {
    game.step(static_cast<double>(step - 1) / 60.0);
    const double time_s = static_cast<double>(step) / 60.0;
    world.mark_touched(0, {touched.get(), world.size()});
    for (std::size_t i = 0; i < world.size(); ++i) {
      const Pose pose = world.pose(i);
      recording.motion.entities[i].samples.push_back({time_s, pose.position, glm::dquat(pose.orientation)});
      recording.interacting.push_back(touched[i]);
    }
  }
  return recording;
}

}  // namespace reckoner::scenario
