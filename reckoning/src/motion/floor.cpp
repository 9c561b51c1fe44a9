// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/floor.hpp>

namespace reckoner {
namespace {

double height_at(const Floor& floor, const glm::dvec3& position) {
  return floor.height ? floor.height(position) : floor.height_m;
}

// How fast the ground rises below a body that moves with this velocity, m/s.
double climb_mps(const Floor& floor, const glm::dvec3& position, const glm::dvec3& velocity,
                 double height_m) {
  constexpr double kStepS = 1.0 / 64.0;
  if (!floor.height) return 0.0;
  const double ahead_m = floor.height(position + velocity * kStepS);
  return std::isfinite(ahead_m) ? (ahead_m - height_m) / kStepS : 0.0;
}

}  // namespace

State above_floor(const State& state, const Floor& floor) {
  const double height_m = height_at(floor, state.position);
  const double depth_m = height_m - glm::dot(state.position, floor.up);
  if (!std::isfinite(height_m) || !(depth_m > 0.0)) return state;
  State out = state;
  out.position += depth_m * floor.up;
  const glm::dvec3 v{state.velocity};
  const glm::dvec3 horizontal = v - glm::dot(v, floor.up) * floor.up;
  out.velocity = glm::vec3{horizontal + climb_mps(floor, out.position, horizontal, height_m) * floor.up};
  const double falls = std::min(0.0, glm::dot(glm::dvec3{state.acceleration}, floor.up));
  out.acceleration -= glm::vec3{falls * floor.up};
  return out;
}

}  // namespace reckoner
