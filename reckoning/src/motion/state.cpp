// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/state_checks.hpp"

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
bool is_sane(const State& state) {
  const glm::quat& q = state.orientation;
  const double norm2 = double{q.w} * q.w + double{q.x} * q.x + double{q.y} * q.y + double{q.z} * q.z;
  return is_finite(state.position) && is_finite(state.velocity) && is_finite(state.acceleration) &&
         is_finite(state.angular_velocity) && norm2 > 0.98 && norm2 < 1.02;  // false for NaN too
}

}  // namespace reckoner
