// SPDX-License-Identifier: MIT
#pragma once

#include "rate_fit.hpp"

#include <array>
#include <cstddef>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Fits the motion that is published to where the entity is expected to be. Position and velocity are the
/// true ones; the acceleration is such that the quadratic passes where RateFit expects the entity after
/// horizon_s(), and the angular velocity turns it to where it is expected to face. So the receiver stays
/// simple, whatever the sender learns (DESIGN.md, Sender).
///
/// One per entity; a value, no allocation. Fed once a tick.
class MotionFit {
 public:
  explicit MotionFit(double tick_rate_hz);

  /// The truth at the next tick.
  void observe(const State& truth);

  /// After a teleport: what was learned about the present is void, what was learned about the entity holds.
  void restart();

  /// `truth`, as observed last, with acceleration and angular velocity as they are to be published.
  [[nodiscard]] State fitted(const State& truth) const;

  /// How far ahead the fit aims, s.
  [[nodiscard]] double horizon_s() const { return horizon_s_; }

 private:
  static constexpr std::size_t kPast = 64;

  double horizon_s_;
  RateFit linear_;
  RateFit angular_;
  std::array<Pose, kPast> past_{};  // ring; newest at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace reckoner
