// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/gap_fit.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// What decides when an entity is published.
struct SendPolicyConfig {
  double tick_rate_hz = 60.0;       ///< how often due() is called, a second
  double threshold_m = 0.05;        ///< m, > 0; with a budget where the threshold begins
  double threshold_rad = 0.05;      ///< rad, > 0
  double updates_per_second = 0.0;  ///< above 0: a budget; the threshold follows it
  double fixed_rate_hz = 0.0;       ///< above 0: evenly, whatever the entity does
};

/// Decides, tick by tick, whether an entity must be published: before the clients' motion is further from the
/// truth than the threshold by the time that an update could reach them, or before it has been off by less
/// for too long: what is off beyond a quarter of the threshold adds up over time (D. Roberts et al. 2008),
/// and must not come to more than the threshold for a second. The first limit of an entity is a share of the
/// later ones, by its phase, so that entities that begin alike do not go on being published in the same tick.
///
/// With a budget U the threshold itself is adapted: it sinks steadily and rises with every update sent, in
/// the proportion that balances at U a second; a token bucket of rate and depth U caps bursts. So updates go
/// where motion is least predictable, and the average is U as long as there is something to tell.
///
/// One per entity; a value, no allocation.
class RECKONER_RECKONING_API SendPolicy {
 public:
  /// `phase`, any number, spreads entities over the ticks.
  SendPolicy(const SendPolicyConfig& config, std::uint32_t phase);

  /// True if the entity is to be published at this tick. `now` and `ahead` are the truth, and the clients'
  /// motion (`published`), at this instant and `ahead_s` later, when an update would be in use; the truth of
  /// later is the expected one. Call once a tick.
  struct Comparison {
    State truth;                       ///< now
    State published;                   ///< now, as clients have it
    State expected_ahead;              ///< the truth, as expected ahead_s later
    State published_ahead;             ///< then, as clients will have it
    std::optional<GapFit::Off> gap{};  ///< if all clients show the past: what they will see, and alone counts
  };
  /// By the rule above, with the parts already computed.
  [[nodiscard]] bool due(const Comparison& comparison, std::uint32_t tick);

  /// The same for free motion, from what a Comparison would be made of: the truth, the same with the
  /// acceleration and angular velocity that are expected of it, and what was published. Where places decide,
  /// no orientation is computed at all.
  struct Outlook {
    const State& truth;       ///< now, as the game told it
    const State& fitted;      ///< the same with the rates that are expected
    const Motion& published;  ///< plain quadratic motion
    double time_s;            ///< now
    double ahead_s;           ///< until an update would be in use, s: its delay and kTakesEffectS
  };
  /// An update that has arrived takes so long until it shows, s: half a blend.
  static constexpr double kTakesEffectS = 0.05;
  /// By the same rule; call one or the other, once a tick.
  [[nodiscard]] bool due(const Outlook& outlook, std::uint32_t tick);

  /// Others live in the entity's frame, as far as `lever_m` from its middle: a turn moves them, so that an
  /// angle is worth what it moves there, down to kLeastLeverShare of the threshold. 0: nobody does.
  void set_lever(double lever_m);
  /// What of the angular threshold the lever leaves, up to 1.
  [[nodiscard]] double lever_share() const { return lever_share_; }
  static constexpr double kLeastLeverShare = 1.0 / 16.0;  ///< of the threshold, however long the lever

  /// An update was sent: a publish, or the repair of one.
  void spent();

  /// True if it has not moved for some ticks: it is due until it is published to a small share of the
  /// threshold, and then no more.
  [[nodiscard]] bool rests() const;

  /// The threshold in force, as a multiple of the configured one.
  [[nodiscard]] double scale() const { return scale_; }

 private:
  [[nodiscard]] bool due_at_fixed_rate(std::uint32_t tick) const;
  [[nodiscard]] bool exceeds(const Comparison& comparison);
  [[nodiscard]] bool exceeds(const Outlook& outlook);
  [[nodiscard]] bool decided(bool due);
  [[nodiscard]] bool adds_up(double off_m);
  [[nodiscard]] double limit_m() const;
  [[nodiscard]] bool rest_is_off(const State& truth, const State& published) const;
  [[nodiscard]] double limit_rad() const;

  // What decides before anything is compared; nothing if that must.
  [[nodiscard]] std::optional<bool> due_by_itself(const State& truth, double least_scale, std::uint32_t tick);

  SendPolicyConfig config_;
  std::uint32_t phase_;
  std::uint32_t ticks_at_rest_ = 0;
  double off_m_s_ = 0.0;  // what was off since the last update, added up over time
  double share_;          // of the limits that is in force until the first update
  double sink_;           // what the threshold is multiplied by a tick, and
  double rise_;           // an update sent, under a budget
  double scale_ = 1.0;
  double lever_share_ = 1.0;
  double tokens_ = 0.0;  // updates that the budget allows now
};

}  // namespace reckoner
