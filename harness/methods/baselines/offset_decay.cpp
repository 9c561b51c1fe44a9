// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kSmallErrorM = 0.25;
constexpr double kLargeErrorM = 1.0;
constexpr double kSmallFactor = 0.95;
constexpr double kLargeFactor = 0.85;

// G. Fiedler, "State Synchronization" (gafferongames.com, 2015). The motion snaps to each update, and a
// visual offset hides the jump. Every picture multiplies the offset by 0.95 if it is 0.25 m or less and by
// 0.85 if it is 1 m or more, with linear interpolation of the factor in between. The offset in orientation is
// slerped towards zero by the same factor.
class OffsetDecay final : public Baseline {
 public:
  void receive(const BaselineUpdate& update, double now_s) override {
    const bool first = !newest_;
    const State old = first ? State{} : newest_.at(now_s, false);
    if (!newest_.store(update) || first) return;
    if (newest_.teleported()) {
      offset_ = glm::dvec3{0.0};
      turn_ = glm::quat{1.0f, 0.0f, 0.0f, 0.0f};
      return;
    }
    const State motion = newest_.at(now_s, false);
    offset_ += old.position - motion.position;
    turn_ = glm::normalize(turn_ * old.orientation * glm::conjugate(motion.orientation));
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    const double error = glm::length(offset_);
    const double large = std::clamp((error - kSmallErrorM) / (kLargeErrorM - kSmallErrorM), 0.0, 1.0);
    const double factor = kSmallFactor + (kLargeFactor - kSmallFactor) * large;
    offset_ *= factor;
    turn_ = slerp(glm::quat{1.0f, 0.0f, 0.0f, 0.0f}, turn_, factor);
    const State motion = newest_.at(now_s, false);
    return BaselineShown{{motion.position + offset_, glm::normalize(turn_ * motion.orientation)}, now_s};
  }

 private:
  NewestUpdate newest_;
  glm::dvec3 offset_{0.0};
  glm::quat turn_{1.0f, 0.0f, 0.0f, 0.0f};
};

}  // namespace

std::unique_ptr<Baseline> make_offset_decay(const BaselineSetup&) {
  return std::make_unique<OffsetDecay>();
}

}  // namespace reckoner::harness
