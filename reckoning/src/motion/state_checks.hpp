// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// True if all three components of a vector are finite.
template <class Vector>
[[nodiscard]] bool is_finite(const Vector& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// True if the state is not at rest: it has a velocity, an acceleration or an angular velocity.
[[nodiscard]] inline bool moves(const State& s) {
  constexpr glm::vec3 kNone{0.0f};
  return s.velocity != kNone || s.acceleration != kNone || s.angular_velocity != kNone;
}

}  // namespace reckoner
