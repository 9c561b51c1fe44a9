// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include <glm/geometric.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Tells whether an entity's motion has settled: for kSettledS, the entity has been where one motion with
/// constant acceleration takes it, and has turned evenly. Such a motion often goes on for long, so a precise
/// state is worth its bytes.
///
/// Velocity and acceleration are those that the game reports. If they do not fit the positions, the motion
/// never settles. One instance per entity, a value. Call observe() once per tick.
class SettledMotion {
 public:
  /// How long a motion must last to be settled, s.
  static constexpr double kSettledS = 0.5;

  /// The distance, m, and the angle, rad, that count as none.
  struct Slack {
    double m = 0.0;
    double rad = 0.0;
  };
  /// Takes the true state at `time_s`, s.
  void observe(const State& truth, double time_s, const Slack& slack) {
    const double for_s = time_s - began_s_;
    const glm::dvec3 expected = position_ + (velocity_ + acceleration_ * (0.5 * for_s)) * for_s;
    const bool goes_on =
        glm::distance(truth.position, expected) <= slack.m &&
        glm::distance(glm::dvec3{truth.angular_velocity}, angular_velocity_) * kSettledS <= slack.rad;
    if (goes_on) return;
    began_s_ = time_s;
    position_ = truth.position;
    velocity_ = truth.velocity;
    acceleration_ = truth.acceleration;
    angular_velocity_ = truth.angular_velocity;
  }

  /// Since when it has been one motion, s; infinity before the first observe().
  [[nodiscard]] double began_s() const { return began_s_; }
  [[nodiscard]] bool is_settled(double time_s) const { return time_s - began_s_ >= kSettledS; }

 private:
  // The state at began_s_.
  double began_s_ = std::numeric_limits<double>::infinity();
  glm::dvec3 position_{0.0};
  glm::dvec3 velocity_{0.0};
  glm::dvec3 acceleration_{0.0};
  glm::dvec3 angular_velocity_{0.0};
};

}  // namespace reckoner
