// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/motion_fit.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace reckoner {

/// What the entities of each archetype have in common in how they move, so that one that is new need not be
/// learned from nothing: most of all what lives for a second only, and has learned when it is over.
///
/// Entities are looked at in the order of their slots, and those that end in the order in which the game ends
/// them: what comes of it does not depend on threads.
class KindPriors {
 public:
  explicit KindPriors(std::size_t archetypes) : kinds_(archetypes) {}

  /// Nothing for what nobody has shown yet.
  [[nodiscard]] MotionFit::Priors of(std::size_t archetype) const;

  /// Looks at a share of the entities that are awake; at each of them once a second or so.
  void run(const EntityTable& entities);

  /// An entity ends: what it has learned counts once more.
  void ends(const Entity& entity);

 private:
  // The mean over the entities of a kind, as it changes over time.
  class Mean {
   public:
    void add(const std::optional<RateFit::Prior>& prior);
    void end_round();
    void move_towards(const RateFit::Prior& prior);
    [[nodiscard]] const std::optional<RateFit::Prior>& value() const { return value_; }

   private:
    std::optional<RateFit::Prior> value_;
    std::array<double, RateFit::kPriorSize> sum_{};  // of this round
    unsigned count_ = 0;
  };
  struct Kind {
    Mean linear, angular;
  };

  std::vector<Kind> kinds_;
  std::size_t next_turn_ = 0;
};

}  // namespace reckoner
