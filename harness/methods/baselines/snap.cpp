// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

namespace reckoner::harness {
namespace {

// Extrapolates the newest update with constant velocity and angular velocity and does not smooth corrections.
// DIS calls this dead reckoning without smoothing. Most games start with it.
class Snap final : public Baseline {
 public:
  void receive(const BaselineUpdate& update, double) override { newest_.take(update); }

  [[nodiscard]] std::optional<BaselineShown> show(double now_s) override {
    if (!newest_) return std::nullopt;
    return BaselineShown{newest_.at(now_s, false).pose(), now_s};
  }

 private:
  NewestUpdate newest_;
};

}  // namespace

std::unique_ptr<Baseline> make_snap(const BaselineSetup&) {
  return std::make_unique<Snap>();
}

}  // namespace reckoner::harness
