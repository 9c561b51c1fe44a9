// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

namespace reckoner::harness {
namespace {

// C. Murphy, "Believable Dead Reckoning for Networked Games" (Game Engine Gems 2, 2011): projective velocity
// blending over the mean update interval T. With u = min(t/T, 1):
//   Vb = V0 + (V0' - V0) u,  P = P0 + Vb t + A t^2/2,  P' = P0' + V0' t + A t^2/2,  Q = P + (P' - P) u.
// If an update arrives during a blend, the new blend starts from the shown position and the velocity Vb + A
// t. Orientation is extrapolated and slerped with the same u.
class Projective final : public Baseline {
 public:
  explicit Projective(const BaselineSetup& setup) : interval_s_(setup.interval_s) {}

  void receive(const BaselineUpdate& update, double now_s) override {
    const bool first = !newest_;
    const glm::dvec3 shown = first ? glm::dvec3{0.0} : position(now_s);
    const glm::dvec3 velocity = first ? glm::dvec3{0.0} : shown_velocity(now_s);
    const glm::quat turned = first ? glm::quat{1, 0, 0, 0} : orientation(now_s);
    if (!newest_.store(update)) return;
    arrived_s_ = now_s;
    blends_ = !first && !newest_.teleported();
    old_position_ = shown;
    old_velocity_ = velocity;
    old_orientation_ = turned;
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    return BaselineShown{{position(now_s), orientation(now_s)}, now_s};
  }

 private:
  [[nodiscard]] double share(double now_s) const {
    return blends_ ? std::min(1.0, (now_s - arrived_s_) / interval_s_) : 1.0;
  }
  // The velocity Vb. During the blend, it changes into the velocity that the target had when the update
  // arrived.
  [[nodiscard]] glm::dvec3 blended_velocity(double now_s) const {
    const glm::dvec3 target{newest_.at(arrived_s_, true).velocity};
    return blends_ ? old_velocity_ + (target - old_velocity_) * share(now_s) : target;
  }
  [[nodiscard]] glm::dvec3 shown_velocity(double now_s) const {
    return blended_velocity(now_s) + glm::dvec3(newest_.get().state.acceleration) * (now_s - arrived_s_);
  }
  [[nodiscard]] glm::dvec3 position(double now_s) const {
    const State target = newest_.at(arrived_s_, true);
    const double t = now_s - arrived_s_;
    const double u = share(now_s);
    const glm::dvec3 drift = glm::dvec3(target.acceleration) * (0.5 * t * t);
    const glm::dvec3 after = target.position + glm::dvec3(target.velocity) * t + drift;
    if (u >= 1.0) return after;
    const glm::dvec3 before = old_position_ + blended_velocity(now_s) * t + drift;
    return before + (after - before) * u;
  }
  [[nodiscard]] glm::quat orientation(double now_s) const {
    const glm::quat target = newest_.at(now_s, true).orientation;
    return blends_ ? slerp(old_orientation_, target, share(now_s)) : target;
  }

  double interval_s_;
  NewestUpdate newest_;
  double arrived_s_ = 0.0;
  bool blends_ = false;
  glm::dvec3 old_position_{0.0};
  glm::dvec3 old_velocity_{0.0};
  glm::quat old_orientation_{1.0f, 0.0f, 0.0f, 0.0f};
};

}  // namespace

std::unique_ptr<Baseline> make_projective(const BaselineSetup& setup) {
  return std::make_unique<Projective>(setup);
}

}  // namespace reckoner::harness
