// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/util/worker_pool.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

class ServerObserver;

/// Learns how the entities of each archetype typically move. A new entity starts with this knowledge and need
/// not learn from nothing. Short-lived entities gain most, because they would otherwise end as soon as they
/// have learned.
///
/// Entities are sampled in order of slot, and entities that end are sampled in the order in which the game
/// ends them. So the result does not depend on the number of threads.
class KindPriors {
 public:
  explicit KindPriors(std::size_t archetypes) : kinds_(archetypes) {}

  /// The priors of an archetype; empty until an entity of this archetype has moved for a while.
  [[nodiscard]] MotionFit::Priors of(std::size_t archetype) const;

  /// Samples some of the entities that are awake. Over many calls, each entity is sampled about once a
  /// second.
  void run(const EntityTable& entities);

  /// Call when an entity ends: adds what its fit has learned to its archetype's mean.
  void learn_from(const Entity& entity);

  /// The sums of the errors at the ends of long gaps, in kErrorStep of the threshold: with the acceleration
  /// that was or would have been sent, and without it. Whole numbers, so that their order does not matter.
  struct ExtrapolationErrors {
    static constexpr double kErrorStep = 1.0 / 64.0;
    std::uint64_t with = 0;
    std::uint64_t without = 0;
    std::uint64_t publishes = 0;  ///< number of publishes that had or could have had an acceleration
  };
  void add(std::size_t archetype, const ExtrapolationErrors& errors);
  /// False if accelerations reduce the errors at the ends of gaps by less than what other updates would
  /// reduce for the same bytes: if gaps are too short for clients to extrapolate, or with bodies that
  /// collide.
  [[nodiscard]] bool needs_acceleration(std::size_t archetype) const {
    const Kind& kind = kinds_[archetype];
    constexpr double kFew = 100.0;  // too few publishes to judge
    if (kind.publishes < kFew) return true;
    // In thresholds per publish. An acceleration has 23 of 150 bits, and an update removes an error of about
    // one threshold. On the recorded traces, the bytes with 0.05 to 0.2 differ by 0.2 % (docs/TUNING.md).
    constexpr double kWorthSending = 0.1;
    return (kind.without - kind.with) * ExtrapolationErrors::kErrorStep > kWorthSending * kind.publishes;
  }

 private:
  // A moving mean over the entities of one archetype.
  class Mean {
   public:
    void add(const std::optional<RateFit::Prior>& prior);
    void end_round();
    void move_towards(const RateFit::Prior& prior);
    [[nodiscard]] const std::optional<RateFit::Prior>& value() const { return value_; }

   private:
    std::optional<RateFit::Prior> value_;
    std::array<double, RateFit::kPriorSize> sum_{};  // sum over the current round
    unsigned count_ = 0;
  };
  struct Kind {
    Mean linear, angular;
    double with = 0.0, without = 0.0, publishes = 0.0;  // ExtrapolationErrors; older ones count less
  };

  std::vector<Kind> kinds_;
  std::size_t next_turn_ = 0;
};

/// Decides in every tick which entities are published. It examines every entity that is awake, at each level
/// of detail that has subscribers. Entities are independent of each other, so the workers share the loop.
class Publisher {
 public:
  Publisher(const ServerConfig& config, std::span<const Quantisation> quantisation, unsigned workers,
            const SenderParts& parts = {})
      : config_(config),
        parts_(parts),
        quantisation_(quantisation),
        counts_(workers),
        missing_(config.archetypes.size()),
        kinds_(config.archetypes.size()) {
    for (Counts& counts : counts_) {
      counts.errors.resize(config.archetypes.size());
      counts.missing.resize(config.archetypes.size());
    }
  }

  /// Returns a new entity that contains the publisher's data. `phase` may be any number; different numbers
  /// spread the publishes of entities over the ticks.
  [[nodiscard]] Entity make_entity(std::size_t archetype, const std::string& name, const State& truth,
                                   std::uint32_t phase) const;

  /// Reports every published motion to `observer`. Null: to nobody.
  void set_observer(ServerObserver* observer) { observer_ = observer; }

  /// Publishes everything that is due at `tick`, whose server time is `time_s`, s. `late`: the tick after it
  /// is due already.
  void run(EntityTable& entities, const RouteTable& routes, Tick tick, double time_s, bool late,
           WorkerPool& pool, ServerStats& stats);

  /// Call when an entity ends: KindPriors keeps what was learned about it.
  void learn_from(const Entity& entity) { kinds_.learn_from(entity); }

  /// The longest gap between two updates for clients that interpolate, s. `factor` is the threshold factor of
  /// the level of detail. A whole number of ticks. A gap may be longer while the earlier motion is still
  /// correct.
  [[nodiscard]] double longest_gap_s(double factor) const;

  /// The longest gap between two motions that a client gets at the finest level of detail, s. It is
  /// longest_gap_s(1), and longer by the wait for the client's turn if there is a send rate.
  [[nodiscard]] double longest_sent_gap_s() const;

  /// What the game has left at zero so far although entities of the archetype moved (VelocityWatch::Missing).
  /// Index: archetype.
  [[nodiscard]] std::span<const std::uint8_t> missing_velocities() const { return missing_; }

  /// The slots published in the last run(), by level of detail.
  [[nodiscard]] const Published& published() const { return published_; }

 private:
  // Statistics of one worker. They have a cache line of their own, so that workers do not slow each other
  // down.
  struct alignas(64) Counts {
    PublishCauses causes;
    std::uint64_t publishes = 0;
    std::uint64_t route_entity_ticks = 0;
    std::vector<KindPriors::ExtrapolationErrors> errors;  // index: archetype
    std::vector<std::uint8_t> missing;                    // index: archetype
  };
  struct Now {
    const RouteTable& routes;
    Tick tick;
    double time_s;
    bool late;
  };

  // The state to publish for an entity that is not published on a route.
  struct OutgoingState {
    State state;
    bool bends = false;
    std::uint8_t link = 0;
    bool sudden = false;
  };

  // The budget or the fixed rate at the finest level of detail, updates per second. 0 if the threshold
  // decides. Most clients near the entity follow it at the finest level.
  [[nodiscard]] double rate_hz() const { return std::max(config_.updates_per_second, config_.fixed_rate_hz); }
  [[nodiscard]] bool examine_entity(Entity& entity, const Now& now, Counts& counts);
  void check_velocity(Entity& entity, const Now& now, Counts& counts) const;
  [[nodiscard]] double ahead_s(const EntityLevel& level) const;
  [[nodiscard]] bool is_due(const Entity& entity, EntityLevel& level, const Now& now) const;
  void examine_level(Entity& entity, std::size_t level, const Now& now, Counts& counts);
  void publish(Entity& entity, EntityLevel& level, const Now& now, double urgency) const;
  void report(const Entity& entity, std::size_t level, const Now& now, std::uint64_t PublishCauses::*cause,
              double error_m) const;
  void publish_owned(Entity& entity, EntityLevel& level, const Now& now) const;
  void learn_coding_mode(EntityLevel& level, const QuantisedState& encoded, Tick tick,
                         const Quantisation& q) const;
  [[nodiscard]] bool followed(const Entity& entity, std::size_t level) const;
  [[nodiscard]] bool is_on_route(const Entity& entity) const;
  [[nodiscard]] State fitted(const Entity& entity) const;
  [[nodiscard]] bool is_steady(const Entity& entity, const EntityLevel& level) const;
  void compare_extrapolations(const Entity& entity, const EntityLevel& level, double time_s,
                              Counts& counts) const;
  [[nodiscard]] OutgoingState outgoing_state(Entity& entity, EntityLevel& level, double time_s) const;
  [[nodiscard]] GapFit::GapError allowed_error(const Entity& entity, const EntityLevel& level) const;
  [[nodiscard]] bool leads_here(const Entity& entity, const EntityLevel& level) const;
  [[nodiscard]] std::optional<glm::vec3> bend_of(const Entity& entity, const EntityLevel& level,
                                                 double time_s) const;
  [[nodiscard]] SendPolicy::Comparison compare(const Entity& entity, const EntityLevel& level,
                                               double time_s) const;

  const ServerConfig& config_;
  SenderParts parts_;
  std::span<const Quantisation> quantisation_;  // index: archetype
  std::vector<Counts> counts_;                  // index: worker
  std::vector<std::uint8_t> missing_;           // VelocityWatch::Missing; index: archetype
  Published published_;
  KindPriors kinds_;
  ServerObserver* observer_ = nullptr;
};

}  // namespace reckoner
