// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/motion_fit.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace reckoner {

/// Learns what the entities of each archetype have in common in how they move. A new entity starts with this
/// knowledge instead of learning from nothing. Short-lived entities gain most: they would otherwise end as
/// soon as they have learned.
///
/// Entities are sampled in order of slot, and ended ones in the order in which the game ends them. So the
/// result does not depend on the number of threads.
class KindPriors {
 public:
  explicit KindPriors(std::size_t archetypes) : kinds_(archetypes) {}

  /// The priors of an archetype; empty until one of its entities has moved for a while.
  [[nodiscard]] MotionFit::Priors of(std::size_t archetype) const;

  /// Samples a share of the entities that are awake, so that each is sampled about once a second.
  void run(const EntityTable& entities);

  /// Call when an entity ends: adds what its fit has learned to its archetype's mean.
  void ends(const Entity& entity);

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
  };

  std::vector<Kind> kinds_;
  std::size_t next_turn_ = 0;
};

}  // namespace reckoner
