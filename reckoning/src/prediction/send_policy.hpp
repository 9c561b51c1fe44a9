// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/gap_fit.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Settings that decide when an entity is published.
struct SendPolicyConfig {
  double tick_rate_hz = 60.0;  ///< calls of due() per second, Hz
  /// Largest tolerated error of the position, m, > 0. With a budget this is only the initial threshold.
  double threshold_m = 0.05;
  /// Largest tolerated error of the orientation, rad, > 0. With a budget this is only the initial threshold.
  double threshold_rad = 0.05;
  /// Above 0: a budget in updates per second; the thresholds adapt to it. 0: no budget.
  double updates_per_second = 0.0;
  /// Above 0: publish at this constant rate, Hz, and ignore the thresholds; 0: off.
  double fixed_rate_hz = 0.0;
};

/// Decides at every tick whether an entity must be published. An entity is due in two cases:
/// - The motion that clients have would differ from the truth by more than the threshold before an update
///   could arrive.
/// - A smaller error has lasted too long. The error above a quarter of the threshold is integrated over time
///   (D. Roberts et al. 2008). The integral may reach at most the threshold times one second.
///
/// Until the first publish of an entity, the limits are smaller than later. How much smaller depends on the
/// entity's phase. So entities that start alike are not all published in the same tick.
///
/// With a budget of U updates per second, the threshold adapts: it falls steadily, and it rises with every
/// update. The fall and the rises balance at U updates per second. A token bucket of rate U and depth U
/// limits bursts. So most updates are sent while the motion is least predictable, and the average rate is U
/// while the entity moves.
///
/// One instance per entity. A value; allocates nothing.
class RECKONER_RECKONING_API SendPolicy {
 public:
  /// `phase` may be any number. Entities with different phases are distributed over the ticks.
  SendPolicy(const SendPolicyConfig& config, std::uint32_t phase);

  /// The true state and the published motion, each at two times: now, and when an update sent now would be in
  /// use. The second time is `ahead_s` seconds later (see FreeMotionInputs::ahead_s).
  struct Comparison {
    State truth;            ///< true state now
    State published;        ///< state of the published motion now
    State expected_ahead;   ///< expected true state `ahead_s` seconds later
    State published_ahead;  ///< state of the published motion `ahead_s` seconds later
    /// Set if all clients are in buffered mode: the error that they would show. For a moving entity, it
    /// replaces the errors computed from the other fields.
    std::optional<GapFit::GapError> gap{};
  };
  /// True if the entity must be published at this tick. Call one of the two due() functions once per tick.
  [[nodiscard]] bool due(const Comparison& comparison, std::uint32_t tick);

  /// The inputs of due() for free motion. Use them instead of a Comparison, because they are cheaper: if the
  /// positions already decide, no orientation is computed.
  struct FreeMotionInputs {
    const State& truth;       ///< true state now, as the game reported it
    const State& fitted;      ///< `truth` with the expected acceleration and angular velocity
    const Motion& published;  ///< last published motion; must be free quadratic motion
    double time_s;            ///< current time, s
    /// Time until an update sent now would be in use, s: the delay of the update plus kTakesEffectS.
    double ahead_s;
  };
  /// Time from the arrival of an update until it takes effect in the shown pose, s: half a blend.
  static constexpr double kTakesEffectS = 0.05;
  /// True if the entity must be published at this tick. Call one of the two due() functions once per tick.
  [[nodiscard]] bool due(const FreeMotionInputs& outlook, std::uint32_t tick);

  /// Call this when other entities use this entity as their frame. `lever_m` is the distance from this entity
  /// to the farthest of them, m; 0 if there are none. A rotation of this entity also moves the others, so the
  /// angular threshold becomes smaller. It becomes lever_share() times as large, and lever_share() is at
  /// least kMinLeverShare.
  void set_lever(double lever_m);
  /// The factor on the angular threshold that results from set_lever(), kMinLeverShare to 1.
  [[nodiscard]] double lever_share() const { return lever_share_; }
  /// Smallest value of lever_share(), for any lever.
  static constexpr double kMinLeverShare = 1.0 / 16.0;

  /// Call this when an update was sent: a publish, or the repair of a lost update.
  void update_sent();

  /// True if the entity has not moved for some ticks. The entity is then due until the error of its published
  /// pose is below a small share of the threshold. After that it is not due.
  [[nodiscard]] bool is_at_rest() const;

  /// The factor on the configured thresholds that is in force; 1 without a budget.
  [[nodiscard]] double scale() const { return scale_; }

 private:
  [[nodiscard]] bool due_at_fixed_rate(std::uint32_t tick) const;
  [[nodiscard]] bool exceeds(const Comparison& comparison);
  [[nodiscard]] bool exceeds(const FreeMotionInputs& outlook);
  [[nodiscard]] bool start_error_integral_if(bool due);
  [[nodiscard]] bool integral_exceeds(double off_m);
  [[nodiscard]] double limit_m() const;
  [[nodiscard]] bool rest_pose_differs(const State& truth, const State& published) const;
  [[nodiscard]] double limit_rad() const;

  // The decision, if it can be made without a comparison; otherwise nullopt.
  [[nodiscard]] std::optional<bool> early_decision(const State& truth, double least_scale,
                                                   std::uint32_t tick);

  SendPolicyConfig config_;
  std::uint32_t phase_;
  std::uint32_t ticks_at_rest_ = 0;
  double error_integral_m_s_ = 0.0;  // time integral of the error since the last update, m s
  double first_limit_share_;         // factor on the limits until the first publish
  double fall_factor_;               // factor on the threshold per tick, with a budget
  double rise_factor_;               // factor on the threshold per update, with a budget
  double scale_ = 1.0;
  double lever_share_ = 1.0;
  double tokens_ = 0.0;  // updates that the budget allows now
};

}  // namespace reckoner
