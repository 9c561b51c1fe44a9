// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

#include <array>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

std::span<const BaselineKind> baseline_kinds() {
  static constexpr std::array kKinds{
      BaselineKind{"snap", "straight on at the last known speed; jumps when corrected", make_snap, false,
                   false},
      BaselineKind{"article", "Caldwell's cubic splines of 2000, with their three faults", make_article, true,
                   false},
      BaselineKind{"quadratic",
                   "on with the true speed and acceleration, corrections blended by a cubic in 0.1 s",
                   make_quadratic, true, false},
      BaselineKind{"linear", "the same with the speed alone", make_linear, false, false},
      BaselineKind{"projective", "Murphy's projective velocity blending, over one update interval",
                   make_projective, true, false},
      BaselineKind{"offset-decay", "corrects at once and lets the difference fade by a share a frame",
                   make_offset_decay, false, false},
      BaselineKind{"tracker", "steers towards where the thing will be in half a second", make_tracker, true,
                   false},
      BaselineKind{"lerp-buffer", "shows the past: straight lines between two updates that have come",
                   make_lerp_buffer, false, true},
      BaselineKind{"hermite-buffer", "shows the past: a curve through the updates that have come",
                   make_hermite_buffer, false, true},
  };
  return kKinds;
}

State NewestUpdate::at(double time_s, bool quadratic) const {
  State state = update_->state;
  if (!quadratic) state.acceleration = glm::vec3{0.0f};
  return extrapolate(state, time_s - update_->time_s);
}

}  // namespace reckoner::harness
