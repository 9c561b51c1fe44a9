// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The limits of an owned entity's motion.
struct OwnerLimits {
  double max_speed_mps = 0.0;
  double max_acceleration_mps2 = 0.0;
  double world_size_m = 0.0;      ///< largest distance from the origin along each axis
  double position_slack_m = 0.0;  ///< tolerance for rounding and fitting; does not accumulate
  /// tolerance for rounding and fitting; does not accumulate
  double velocity_slack_mps = 0.0;
};

/// Checks every motion that the owner of one entity sends: could the entity have moved so since the motion
/// before? The allowed displacement is a budget (like a token bucket). It grows at top speed, and every
/// motion spends its displacement from the one before. So many small violations together gain no more than
/// one. Changes of velocity have the same kind of budget, which grows at top acceleration.
///
/// A value. Pure arithmetic without a clock; all times are server time, s.
class OwnerCheck {
 public:
  OwnerCheck(const OwnerLimits& limits, const Motion& start);

  /// True if the entity can have made the motion `next`, whose time stamp must be later than that of last().
  [[nodiscard]] bool can_be(const Motion& next) const;

  /// Returns the possible motion closest to `next`. If the entity cannot have reached the position of `next`,
  /// the result stands still at the closest position that it can have reached. Otherwise only velocity and
  /// acceleration are limited.
  [[nodiscard]] Motion nearest(const Motion& next) const;

  /// Limits the visible jump to `next`, a possible motion. Returns `next` if it is close to where last()
  /// leads, else a motion part of the way from there to `next`. An owner that resumes after a silence may be
  /// far from where others extrapolated its entity to.
  [[nodiscard]] Motion eased(const Motion& next) const;

  /// True if `next` lies further from where last() leads than the entity could move in one extra second. A
  /// trusted owner's game must then have teleported it.
  [[nodiscard]] bool is_leap(const Motion& next) const;

  /// Continues in another frame: `last` is the last motion, extrapolated to now and converted to the new
  /// frame. The owner sees the frames slightly displaced, so this also adds an allowance, at most once a
  /// second in full.
  void carry_over(const Motion& last);

  /// Records `next` as the entity's newest motion.
  void accept(const Motion& next);

  /// Starts again from `start`; call it when the game has moved the entity.
  void restart(const Motion& start);

  [[nodiscard]] const Motion& last() const { return last_; }
  [[nodiscard]] const OwnerLimits& limits() const { return limits_; }

 private:
  struct Purse {
    double way_m = 0.0;
    double change_mps = 0.0;
  };
  [[nodiscard]] Purse purse_at(double time_s) const;

  OwnerLimits limits_;
  Motion last_;
  Purse purse_;              // the budget left at last_.time_s
  double allowed_s_ = -1e9;  // time of the last allowance for a change of frame
};

/// Returns `state` with speed, acceleration and position reduced to the limits.
[[nodiscard]] State within(State state, const OwnerLimits& limits);

}  // namespace reckoner
