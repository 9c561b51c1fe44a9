// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/rate_fit.hpp"

#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Fits the motion that is published to where the entity is expected to be. Position and velocity are the
/// true ones; the acceleration is such that the quadratic passes where RateFit expects the entity after
/// horizon_s(), and the angular velocity turns it to where it is expected to face. So the receiver stays
/// simple, whatever the sender learns (DESIGN.md, Sender).
///
/// One per entity; a value of less than 2 KB, no allocation. Fed once a tick. What never turns costs nothing
/// for turning, and what rests costs nothing at all once it is settled().
class RECKONER_RECKONING_API MotionFit {
 public:
  /// Ten updates a second, a tenth of a second each on its way.
  static constexpr double kTypicalHorizonS = 0.18;

  /// `tick_rate_hz`: how often observe() is called, a second; `horizon_s`: how far ahead to aim, s.
  explicit MotionFit(double tick_rate_hz, double horizon_s = kTypicalHorizonS);

  /// How far ahead to aim, s, for so many updates a second that take `delay_s` to arrive: about how old one
  /// in use is. 0: it is not known.
  [[nodiscard]] static double horizon_for(double updates_per_second, double delay_s);

  /// Aims so far ahead from now on, s, unless it nearly does: links change. What was learned is carried over.
  void aim(double horizon_s);

  /// The truth at the next tick.
  void observe(const State& truth);

  /// What was learned about the entity, for others of its kind with the same tick rate, wherever they aim
  /// (RateFit::Prior).
  struct Priors {
    std::optional<RateFit::Prior> linear;   ///< nothing before it has moved for a while
    std::optional<RateFit::Prior> angular;  ///< the same of turning
  };
  /// As of the last tick; what is missing in it would be of no use to others yet.
  [[nodiscard]] Priors priors() const { return {linear_.prior(), angular_.prior()}; }
  /// Begins as one that has these, only before the first observe(): what was seen of others of its kind
  /// predicts it better than nothing.
  void begin_with(const Priors& priors);

  /// After a teleport: what was learned about the present is void, what was learned about the entity holds.
  void restart();

  /// `truth`, as observed last, with acceleration and angular velocity as they are to be published.
  [[nodiscard]] State fitted(const State& truth) const;

  /// How far ahead the fit aims, s: the horizon, in whole ticks.
  [[nodiscard]] double horizon_s() const { return horizon_s_; }

  /// True if the entity has rested for so long that observing further ticks of rest changes nothing: they may
  /// be left out, however many.
  [[nodiscard]] bool settled() const { return linear_.settled() && angular_.settled(); }

 private:
  double horizon_s_;
  double tick_s_;
  glm::dvec3 turned_{0.0};  // sum of what it turned each tick, rad
  RateFit linear_;
  RateFit angular_;
};

}  // namespace reckoner
