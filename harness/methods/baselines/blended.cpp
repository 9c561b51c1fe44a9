// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

#include <reckoner/reckoning/blend.hpp>

namespace reckoner::harness {
namespace {

constexpr double kBlendS = 0.1;

// Extrapolates the newest update, with constant velocity or with its true acceleration. Blends from the shown
// motion to this motion with a cubic that matches positions and velocities at both ends.
class Blended final : public Baseline {
 public:
  explicit Blended(bool quadratic) : quadratic_(quadratic) {}

  void receive(const BaselineUpdate& update, double now_s) override {
    const bool first = !newest_;
    const State shown = first ? State{} : blend_.apply(newest_.at(now_s, quadratic_), now_s);
    if (!newest_.store(update)) return;
    const bool blends = !first && !newest_.teleported();
    blend_ = blends ? Blend(shown, newest_.at(now_s, quadratic_), now_s, kBlendS) : Blend();
  }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    return BaselineShown{blend_.apply(newest_.at(now_s, quadratic_), now_s).pose(), now_s};
  }

 private:
  bool quadratic_;
  NewestUpdate newest_;
  Blend blend_;
};

}  // namespace

std::unique_ptr<Baseline> make_quadratic(const BaselineSetup&) {
  return std::make_unique<Blended>(true);
}
std::unique_ptr<Baseline> make_linear(const BaselineSetup&) {
  return std::make_unique<Blended>(false);
}

}  // namespace reckoner::harness
