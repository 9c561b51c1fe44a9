// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/rate_fit.hpp"

#include <optional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Computes the motion to publish, so that it matches the expected future of the entity. Position and
/// velocity are the true values. The acceleration is chosen so that the quadratic motion reaches the position
/// that RateFit expects after horizon_s(). The angular velocity is chosen so that the motion reaches the
/// expected orientation. The receiver remains simple, whatever the sender learns.
///
/// One instance per entity. A value of less than 2 KB; allocates nothing. Call observe() once per tick. An
/// entity that never turns costs no time for rotation, and a resting entity costs no time once it is
/// settled().
class RECKONER_RECKONING_API MotionFit {
 public:
  /// The default horizon, s. It fits ten updates per second with a delay of 0.1 s (horizon_for()).
  static constexpr double kTypicalHorizonS = 0.18;

  /// `tick_rate_hz`: calls of observe() per second, Hz. `horizon_s`: the horizon, how far ahead the published
  /// motion is fitted, s.
  explicit MotionFit(double tick_rate_hz, double horizon_s = kTypicalHorizonS);

  /// The best horizon, s, for a connection that carries `updates_per_second` updates per second, each with a
  /// delay of `delay_s` seconds. It is about the typical age of an update while a client uses it. Pass 0 for
  /// an unknown rate or delay.
  [[nodiscard]] static double horizon_for(double updates_per_second, double delay_s);

  /// Changes the horizon to `horizon_s`, s, for example when a connection changes. A very small change is
  /// ignored. Learned weights are scaled to the new horizon.
  void change_horizon(double horizon_s);

  /// Takes the true state at the next tick.
  void observe(const State& truth);

  /// The learned parameters, as a starting point for other entities of the same archetype and tick rate. They
  /// are independent of the horizon (RateFit::Prior).
  struct Priors {
    /// Prior of the velocity; nullopt until the entity has moved for a while.
    std::optional<RateFit::Prior> linear;
    /// Prior of the angular velocity; nullopt until the entity has turned for a while.
    std::optional<RateFit::Prior> angular;
  };
  /// The parameters learned up to the last tick. A missing part is not yet reliable enough for other
  /// entities.
  [[nodiscard]] Priors priors() const { return {linear_.prior(), angular_.prior()}; }
  /// Starts with the parameters of other entities of the archetype. Call it only before the first observe().
  void begin_with(const Priors& priors);

  /// What another process needs to continue the fit of an entity (RateFit::Memory).
  struct Memory {
    std::optional<RateFit::Memory>
        linear;  ///< of the velocity; nullopt until the entity has moved for a while
    std::optional<RateFit::Memory>
        angular;  ///< of the angular velocity; nullopt until it has turned for a while
  };
  /// The memory after the last tick.
  [[nodiscard]] Memory memory() const { return {linear_.memory(), angular_.memory()}; }
  /// Continues the fit of another process, with its horizon. Call it only before the first observe(). A part
  /// that is missing or not finite changes nothing.
  void resume(const Memory& memory);

  /// Call this after a teleport: it forgets the recent path, but keeps what was learned about the entity.
  void restart();

  /// Returns `truth` with the acceleration and angular velocity to publish. `truth` must be the last observed
  /// state.
  [[nodiscard]] State fitted(const State& truth) const;

  /// The horizon in force, s: a whole number of ticks.
  [[nodiscard]] double horizon_s() const { return horizon_s_; }

  /// Prefetch what the next observe() reads, in two steps. fetch_lesson() reads what fetch() has prefetched.
  void fetch() const {
    linear_.fetch();
    angular_.fetch();
  }
  void fetch_lesson() const {
    linear_.fetch_lesson();
    angular_.fetch_lesson();
  }

  /// True if it has observed one horizon since the start or the last restart().
  [[nodiscard]] bool knows_horizon() const { return linear_.knows_horizon(); }

  /// True if the velocity has stayed the same for a while. Then fitted() has no acceleration.
  [[nodiscard]] bool is_steady() const { return linear_.is_steady(); }

  /// True if the entity has rested for so long that more ticks at rest change nothing. The caller may then
  /// skip observe() while the entity rests.
  [[nodiscard]] bool settled() const { return linear_.settled() && angular_.settled(); }

 private:
  double horizon_s_;
  double tick_s_;
  glm::dvec3 turned_{0.0};  // sum of the rotation vectors of all ticks, rad
  RateFit linear_;
  RateFit angular_;
};

}  // namespace reckoner
