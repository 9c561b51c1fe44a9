// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// How a body begins, and what it is made of.
struct BodyStart {
  Pose pose{};
  glm::dvec3 velocity{0.0};          ///< m/s
  glm::dvec3 angular_velocity{0.0};  ///< about the world's axes, rad/s
  double mass = 1.0;                 ///< kg; 0: the body never moves
  double friction = 0.5;  ///< coefficient; a contact has the product of both bodies' coefficients, at most 10
  double damping = 0.0;   ///< share of both velocities that is lost in a second, 0 to 1
  bool asleep = false;    ///< rests until another body touches it
};

/// When a body falls asleep. Without this rule, bodies never sleep.
struct SleepRule {
  double speed_mps = 0.25;
  double angular_speed_radps = 0.25;
  double after_s = 0.1;  ///< a body sleeps when it was slower than both limits for this long
};

/// Rigid bodies that collide without bouncing, simulated with Bullet in single precision. Bodies are numbered
/// from 0 in the order in which they are added. The caller must pass only numbers of existing bodies. Equal
/// calls give equal results on one machine with one version of Bullet. Only one thread of a process may use
/// physics worlds at a time, because Bullet keeps a part of the sleep rule in a global variable.
class PhysicsWorld {
 public:
  static constexpr double kStepsPerSecond = 60.0;
  static constexpr double kStepS = 1.0 / kStepsPerSecond;  ///< length of a step, s

  /// Returns the number of steps that is nearest to a length of time, s.
  static std::int64_t steps_in(double seconds) { return std::llround(seconds * kStepsPerSecond); }

  explicit PhysicsWorld(const glm::dvec3& gravity);
  ~PhysicsWorld();
  PhysicsWorld(const PhysicsWorld&) = delete;
  PhysicsWorld& operator=(const PhysicsWorld&) = delete;

  /// Each add function returns the number of the new body. `points` are at least 4 points relative to the
  /// centre of mass, m.
  std::size_t add_hull(std::span<const glm::dvec3> points, const BodyStart& start);
  std::size_t add_sphere(double radius_m, const BodyStart& start);
  std::size_t add_cube(double edge_m, const BodyStart& start);
  /// Adds the resting half-space z < 0, which has no number. Call it at most once.
  void add_ground(double friction);

  /// Call it after the last body was added.
  void set_sleep_rule(const SleepRule& rule);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Pose pose(std::size_t body) const;
  [[nodiscard]] glm::dvec3 velocity(std::size_t body) const;
  [[nodiscard]] glm::dvec3 angular_velocity(std::size_t body) const;
  [[nodiscard]] bool asleep(std::size_t body) const;

  void set_velocity(std::size_t body, const glm::dvec3& velocity);
  void set_angular_velocity(std::size_t body, const glm::dvec3& angular_velocity);
  /// Pushes a body at its centre during the next step, N. Wakes it.
  void push(std::size_t body, const glm::dvec3& force);

  /// Advances by kStepS.
  void step();

  /// Returns for each body whether it touched `body` in the last step, directly or through a chain of other
  /// bodies. The ground is no part of a chain. True for `body` itself.
  [[nodiscard]] std::vector<bool> touched_by(std::size_t body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::scenario
