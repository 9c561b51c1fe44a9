// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {

/// A ship on a circle around a point at a varying speed, its bow (x) ahead. Exact states.
struct Voyage {
  glm::dvec3 centre{0.0};
  double radius_m = 40.0;
  double turn_rps = 0.15;  ///< mean rate of the turn
  double surge = 0.3;      ///< share of the rate that oscillates, period 2 pi / 0.4 s

  State operator()(double t) const {
    const double angle = turn_rps * (t - surge / 0.4 * std::cos(0.4 * t));
    const double rate = turn_rps * (1.0 + surge * std::sin(0.4 * t));
    const double change = turn_rps * surge * 0.4 * std::cos(0.4 * t);
    const glm::dvec3 out{std::cos(angle), std::sin(angle), 0.0};
    const glm::dvec3 ahead{-out.y, out.x, 0.0};
    const double heading = angle + 0.5 * 3.14159265358979323846;
    State s;
    s.position = centre + radius_m * out;
    s.velocity = glm::vec3{radius_m * rate * ahead};
    s.acceleration = glm::vec3{radius_m * (change * ahead - rate * rate * out)};
    s.orientation = {static_cast<float>(std::cos(0.5 * heading)), 0.0f, 0.0f,
                     static_cast<float>(std::sin(0.5 * heading))};
    s.angular_velocity = {0.0f, 0.0f, static_cast<float>(rate)};
    return s;
  }
};

/// At rest at this position.
inline State standing(const glm::dvec3& place) {
  State s;
  s.position = place;
  return s;
}

}  // namespace reckoner::test
