// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

namespace reckoner::harness {
namespace {

constexpr double kReachS = 0.5;

// A second-order tracker. Every picture accelerates the shown point (p0, v0) towards the position that the
// motion (p1, v1, a1) reaches in T, and adds the difference in velocity:
//   a = 2 (p1 + v1 T + a1 T^2/2 - p0 - v0 T)/T^2 + (v1 - v0),  T = 0.5 s.
// Orientation is extrapolated without blending.
class Tracker final : public Baseline {
 public:
  void receive(const BaselineUpdate& update, double now_s) override {
    const bool first = !newest_;
    if (!newest_.store(update) || !(first || newest_.teleported())) return;
    start(now_s);
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    const double dt = now_s - time_s_;
    const State goal = newest_.at(time_s_, true);
    const glm::dvec3 goal_velocity{goal.velocity};
    const glm::dvec3 reach = goal.position + goal_velocity * kReachS +
                             glm::dvec3(goal.acceleration) * (0.5 * kReachS * kReachS) - position_ -
                             velocity_ * kReachS;
    const glm::dvec3 acceleration = reach * (2.0 / (kReachS * kReachS)) + (goal_velocity - velocity_);
    position_ += velocity_ * dt + acceleration * (0.5 * dt * dt);
    velocity_ += acceleration * dt;
    time_s_ = now_s;
    return BaselineShown{{position_, newest_.at(now_s, true).orientation}, now_s};
  }

 private:
  void start(double now_s) {
    const State state = newest_.at(now_s, true);
    position_ = state.position;
    velocity_ = glm::dvec3(state.velocity);
    time_s_ = now_s;
  }

  NewestUpdate newest_;
  glm::dvec3 position_{0.0};
  glm::dvec3 velocity_{0.0};
  double time_s_ = 0.0;
};

}  // namespace

std::unique_ptr<Baseline> make_tracker(const BaselineSetup&) {
  return std::make_unique<Tracker>();
}

}  // namespace reckoner::harness
