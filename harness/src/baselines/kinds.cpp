// SPDX-License-Identifier: MIT
#include "baselines.hpp"

#include <array>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {

std::span<const BaselineKind> baseline_kinds() {
  static constexpr std::array kKinds{
      BaselineKind{"snap", make_snap, false, false,
                   "carries the newest update on at constant velocity; every correction is a jump"},
      BaselineKind{"article", make_article, true, false, "Caldwell's spline (2000) to the letter"},
      BaselineKind{"quadratic", make_quadratic, true, false,
                   "position, velocity and true acceleration, corrected by a cubic in 0.1 s"},
      BaselineKind{"linear", make_linear, false, false, "the same at constant velocity"},
      BaselineKind{"projective", make_projective, true, false,
                   "projective velocity blending (Murphy 2011), the usual recommendation"},
      BaselineKind{"offset-decay", make_offset_decay, false, false,
                   "constant velocity; what a correction would jump by fades away (Fiedler)"},
      BaselineKind{"tracker", make_tracker, true, false, "a spring that follows the newest update"},
      BaselineKind{"lerp-buffer", make_lerp_buffer, false, true,
                   "straight lines between updates, some time ago: smooth, but late"},
      BaselineKind{"hermite-buffer", make_hermite_buffer, false, true,
                   "cubic curves between updates, some time ago: smooth, but late"},
  };
  return kKinds;
}

State NewestUpdate::at(double time_s, bool quadratic) const {
  State state = update_->state;
  if (!quadratic) state.acceleration = glm::vec3{0.0f};
  return extrapolate(state, time_s - update_->time_s);
}

}  // namespace reckoner::harness
