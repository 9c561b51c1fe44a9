// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

#include <array>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

std::span<const BaselineKind> baseline_kinds() {
  static constexpr std::array kKinds{
      BaselineKind{"snap", "extrapolates with the last velocity; jumps when corrected", make_snap, false,
                   false},
      BaselineKind{"article", "Caldwell's cubic splines (2000), followed literally", make_article, true,
                   false},
      BaselineKind{
          "quadratic",
          "extrapolates with the true velocity and acceleration; blends corrections with a cubic over 0.1 s",
          make_quadratic, true, false},
      BaselineKind{"linear",
                   "extrapolates with the true velocity only; blends corrections with a cubic over 0.1 s",
                   make_linear, false, false},
      BaselineKind{"projective", "Murphy's projective velocity blending, over one update interval",
                   make_projective, true, false},
      BaselineKind{"offset-decay",
                   "corrects at once and reduces the visual difference by a factor every frame",
                   make_offset_decay, false, false},
      BaselineKind{"tracker", "steers towards the position that the entity will have in half a second",
                   make_tracker, true, false},
      BaselineKind{"lerp-buffer", "shows the past: interpolates linearly between received updates",
                   make_lerp_buffer, false, true},
      BaselineKind{"hermite-buffer", "shows the past: interpolates received updates with a Hermite curve",
                   make_hermite_buffer, false, true},
      BaselineKind{"colyseus-like",
                   "extrapolates with the last velocity; corrections fade exponentially, as in Colyseus 0.18",
                   make_colyseus_like, false, false},
  };
  return kKinds;
}

State NewestUpdate::at(double time_s, bool quadratic) const {
  State state = update_->state;
  if (!quadratic) state.acceleration = glm::vec3{0.0f};
  return extrapolate(state, time_s - update_->time_s);
}

}  // namespace reckoner::harness
