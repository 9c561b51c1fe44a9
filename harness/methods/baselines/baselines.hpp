// SPDX-License-Identifier: MIT
#pragma once

#include "harness/methods/baseline.hpp"

#include <memory>

namespace reckoner::harness {

std::unique_ptr<Baseline> make_snap(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_article(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_quadratic(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_linear(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_projective(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_offset_decay(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_tracker(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_lerp_buffer(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_hermite_buffer(const BaselineSetup& setup);
std::unique_ptr<Baseline> make_colyseus_like(const BaselineSetup& setup);

/// The newest update that has arrived. Most techniques use only this one.
class NewestUpdate {
 public:
  /// Stores the update. Returns false and ignores it if it is not newer than the stored one.
  bool store(const BaselineUpdate& update) {
    if (update_ && update.time_s <= update_->time_s) return false;
    teleported_ = update_ && update_->teleports != update.teleports;
    update_ = update;
    return true;
  }
  [[nodiscard]] explicit operator bool() const { return update_.has_value(); }
  [[nodiscard]] const BaselineUpdate& get() const { return *update_; }
  /// True: between the stored update and the one before it.
  [[nodiscard]] bool teleported() const { return teleported_; }

  /// Extrapolates the stored update to `time_s`. Uses its acceleration only if `quadratic` is true.
  [[nodiscard]] State at(double time_s, bool quadratic) const;

 private:
  std::optional<BaselineUpdate> update_;
  bool teleported_ = false;
};

}  // namespace reckoner::harness
