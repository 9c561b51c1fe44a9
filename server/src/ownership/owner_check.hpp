// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// What an owned entity cannot exceed.
struct OwnerLimits {
  double max_speed_mps = 0.0;
  double max_acceleration_mps2 = 0.0;
  double world_size_m = 0.0;      ///< positions further from the origin along an axis cannot be
  double position_slack_m = 0.0;  ///< for rounding and fitting: never adds up
  double velocity_slack_mps = 0.0;
};

/// Follows one owned entity and holds every motion that its owner sends against what the entity can have
/// done since the one before. The way that it may have come is a purse: it fills with top speed, and every
/// motion pays the way from the one before, so that many small liberties add up to no more than one. The
/// same for velocity and top acceleration.
///
/// A value. Pure arithmetic: no clock; times are server time, s.
class OwnerCheck {
 public:
  OwnerCheck(const OwnerLimits& limits, const Motion& start);

  /// True if the entity can have made `next`, which is stamped later than last().
  [[nodiscard]] bool can_be(const Motion& next) const;

  /// The nearest to `next` that it can have come: there it stands, as far as anybody knows. If it can be
  /// there, the nearest that it can have done.
  [[nodiscard]] Motion nearest(const Motion& next) const;

  /// `next`, which can be, or as much of the way there from where last() leads as may be shown at once: who
  /// comes back after a silence is where it says, but was not seen going there.
  [[nodiscard]] Motion eased(const Motion& next) const;

  /// True if `next` lies further from where last() leads than it could have come in a second more: who is
  /// trusted was put there by its game.
  [[nodiscard]] bool is_leap(const Motion& next) const;

  /// It goes on in another frame, where its last motion, carried on until now, is `last`. What its owner sees
  /// the frames do is a little off: so much is allowed for, once a second.
  void carry_over(const Motion& last);

  /// `next` is what it has made.
  void accept(const Motion& next);

  /// The entity was put somewhere by the game.
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
  Purse purse_;              // what was left at last_
  double allowed_s_ = -1e9;  // when frames were allowed to be off
};

/// `state` with its speed and acceleration brought within the limits, and within the world.
[[nodiscard]] State within(State state, const OwnerLimits& limits);

}  // namespace reckoner
