// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include <glm/gtc/quaternion.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {

/// A circle in the plane z = 0, facing along it. Exact derivatives.
struct Circle {
  double radius_m = 5.0;
  double turn_rps = 1.0;
  glm::dvec3 centre{0.0};
  double phase_rad = 0.0;

  [[nodiscard]] double speed() const { return radius_m * std::abs(turn_rps); }
  [[nodiscard]] double acceleration() const { return radius_m * turn_rps * turn_rps; }

  State operator()(double t) const {
    const double angle = phase_rad + turn_rps * t;
    const glm::dvec3 out{std::cos(angle), std::sin(angle), 0.0};
    const glm::dvec3 along{-std::sin(angle), std::cos(angle), 0.0};
    State s;
    s.position = centre + radius_m * out;
    s.velocity = glm::vec3{radius_m * turn_rps * along};
    s.acceleration = glm::vec3{-radius_m * turn_rps * turn_rps * out};
    s.orientation = glm::quat{glm::angleAxis(angle, glm::dvec3{0.0, 0.0, 1.0})};
    s.angular_velocity = glm::vec3{0.0f, 0.0f, static_cast<float>(turn_rps)};
    return s;
  }
};

/// A sine oscillation on the x axis, without rotation: the acceleration changes all the time.
struct Swing {
  double width_m = 3.0;
  double rate_rps = 2.0;

  [[nodiscard]] double acceleration() const { return width_m * rate_rps * rate_rps; }

  State operator()(double t) const {
    State s;
    s.position = {width_m * std::sin(rate_rps * t), 0.0, 0.0};
    s.velocity = {static_cast<float>(width_m * rate_rps * std::cos(rate_rps * t)), 0.0f, 0.0f};
    s.acceleration = {static_cast<float>(-width_m * rate_rps * rate_rps * std::sin(rate_rps * t)), 0.0f,
                      0.0f};
    return s;
  }
};

/// A body at rest.
struct Still {
  glm::dvec3 place{0.0};

  State operator()(double) const {
    State s;
    s.position = place;
    return s;
  }
};

/// A straight line at constant velocity.
struct Straight {
  glm::dvec3 start{0.0};
  glm::vec3 velocity{1.0f, 0.0f, 0.0f};

  State operator()(double t) const {
    State s;
    s.position = start + glm::dvec3{velocity} * t;
    s.velocity = velocity;
    return s;
  }
};

}  // namespace reckoner::test
