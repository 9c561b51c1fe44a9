// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/cubes.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/physics/physics_world.hpp"
#include "scenario/builtin/physics/sampling.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

// The numbers of the challenge.
constexpr double kFallMps2 = 20.0;
constexpr double kPlayerEdgeM = 1.5;
constexpr double kCubeEdgeM = 0.4;
constexpr int kCubesPerSide = 30;
constexpr double kDensity = 1.0;  // kg/m^3
constexpr double kDamping = 0.01;
constexpr double kFriction = 200.0;
constexpr double kMaxSpeedMps = 32.0;
constexpr double kMaxSpinRadps = 16.0;
constexpr double kMoveN = 120.0;  // for each axis
constexpr double kPullM = 1.8;    // reach
constexpr double kMaxPullMps2 = 2000.0;
constexpr double kPullAt1MMps2 = 200.0;  // at a distance of 1 m; falls with the square of the distance
constexpr double kHomeM = 13.0;          // beyond this distance from the centre, the player moves back

// Chosen so that the pictures change like those of the challenge, as far as that is published
// (docs/benchmarks.md). There the player also pushed cubes away. With that, too many cubes move fast.
constexpr double kPullShare = 0.8;
constexpr double kMinPhaseS = 0.5;
constexpr double kMaxPhaseS = 3.5;
constexpr double kDriveUpToMps = 1.552;  // for each axis

// What the player does for some time: it always moves.
struct Phase {
  bool pulls = false;
  double until_s = 0.0;
  double heading = 0.0;  // rad
};

Phase next_phase(Random& random, double from_s) {
  Phase phase;
  phase.pulls = random.uniform() >= 1.0 - kPullShare;
  phase.until_s = from_s + random.uniform(kMinPhaseS, kMaxPhaseS);
  phase.heading = random.uniform(0.0, 2.0 * std::numbers::pi);
  return phase;
}

// Force along an axis, N. The player presses a key of the axis or not, which allows eight directions.
double drive(double direction, double speed_mps) {
  if (std::abs(direction) < 0.38) return 0.0;  // the sine of 22.5 degrees
  const double force = std::copysign(kMoveN, direction);
  if (std::copysign(1.0, direction) * speed_mps > kDriveUpToMps) return 0.0;
  return force * speed_mps < 0.0 ? 2.0 * force : force;
}

class Game {
 public:
  explicit Game(std::uint64_t seed) : world_({0.0, 0.0, -kFallMps2}), random_(seed) {
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
    double heading = phase_.heading;
    if (portable::hypot(at.x, at.y) > kHomeM) heading = portable::atan2(-at.y, -at.x);
    const glm::dvec3 velocity = world_.velocity(0);
    world_.push(0,
                {drive(portable::cos(heading), velocity.x), drive(portable::sin(heading), velocity.y), 0.0});
    if (phase_.pulls) pull(at);
  }

  void pull(const glm::dvec3& to) {
    for (std::size_t i = 1; i < world_.size(); ++i) {
      const glm::dvec3 difference = to - world_.pose(i).position;
      const double distance = glm::length(difference);
      if (distance > kPullM || distance == 0.0) continue;
      const double acceleration = std::min(kPullAt1MMps2 / (distance * distance), kMaxPullMps2);
      world_.push(i, (masses_[i] * acceleration / distance) * difference);
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

PhysicsRecording record_cubes(const CubesOptions& options) {
  Game game(options.seed);
  const PhysicsWorld& world = game.world();
  PhysicsRecording recording;
  recording.motion.has_orientation = true;
  for (std::size_t i = 0; i < world.size(); ++i)
    recording.motion.entities.push_back(
        {.id = i == 0 ? "player" : "cube" + std::to_string(i), .samples = {}});
  const auto samples = std::max<std::int64_t>(1, PhysicsWorld::steps_in(options.seconds));
  for (std::int64_t step = 1; step <= samples; ++step) {
    game.step(static_cast<double>(step - 1) / PhysicsWorld::kStepsPerSecond);
    append_samples(world, static_cast<double>(step) / PhysicsWorld::kStepsPerSecond, recording.motion);
    const std::vector<bool> touched = world.touched_by(0);
    recording.interacting.insert(recording.interacting.end(), touched.begin(), touched.end());
  }
  return recording;
}

}  // namespace reckoner::scenario
