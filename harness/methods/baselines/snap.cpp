// SPDX-License-Identifier: MIT
#include "harness/methods/baselines/baselines.hpp"

namespace reckoner::harness {
namespace {

// Constant velocity and turn from the newest update, drawn as it is: what DIS calls dead reckoning without
// smoothing, and what most games start with.
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
