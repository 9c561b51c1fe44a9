// SPDX-License-Identifier: MIT
#include "baselines.hpp"

#include <array>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

std::span<const BaselineKind> baseline_kinds() {
  static constexpr std::array kKinds{
      BaselineKind{"snap", make_snap, false, false},
      BaselineKind{"article", make_article, true, false},
      BaselineKind{"quadratic", make_quadratic, true, false},
      BaselineKind{"linear", make_linear, false, false},
      BaselineKind{"projective", make_projective, true, false},
      BaselineKind{"offset-decay", make_offset_decay, false, false},
      BaselineKind{"tracker", make_tracker, true, false},
      BaselineKind{"lerp-buffer", make_lerp_buffer, false, true},
      BaselineKind{"hermite-buffer", make_hermite_buffer, false, true},
  };
  return kKinds;
}

State NewestUpdate::at(double time_s, bool quadratic) const {
  State state = update_->state;
  if (!quadratic) state.acceleration = glm::vec3{0.0f};
  return extrapolate(state, time_s - update_->time_s);
}

}  // namespace reckoner::harness
