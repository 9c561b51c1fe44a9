// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/interest/interest_grid.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <cstdint>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner {

/// Where all entities are, what moves apart from what rests: of the first there is something new to find at
/// every look, of the second only once the eye has gone somewhere else.
///
/// An entity that comes to rest is settling for as long as every client takes to look around once, and found
/// among what moves, so that nobody's look falls between the two.
class SpatialIndex {
 public:
  /// Everybody looks around once in `interval_ticks`. For `cell_m` see InterestGrid.
  SpatialIndex(double cell_m, Tick interval_ticks)
      : interval_ticks_(interval_ticks), moving_(cell_m), resting_(cell_m) {}

  /// Notes where an entity is, for the first time or again: as one that moves.
  void place(std::uint32_t slot, const glm::dvec3& position);
  void remove(std::uint32_t slot);
  /// Notes where a share of all that move are now, and what moves no more, or again.
  void keep_up(const EntityTable& entities, Tick tick);

  /// What moves, or settles.
  [[nodiscard]] const InterestGrid& moving() const { return moving_; }
  [[nodiscard]] const InterestGrid& resting() const { return resting_; }

  [[nodiscard]] bool is_settling(std::uint32_t slot) const { return settling_.contains(slot); }
  [[nodiscard]] bool is_resting(std::uint32_t slot) const { return at_rest_.contains(slot); }
  /// The slots of what rests.
  [[nodiscard]] const SlotSet& at_rest() const { return at_rest_; }

 private:
  struct Settling {
    std::uint32_t slot;
    Tick since;
  };
  void sort_out(const EntityTable& entities, Tick tick, std::size_t word);

  Tick interval_ticks_;
  InterestGrid moving_, resting_;
  SlotSet on_the_move_, settling_, at_rest_;  // each slot that is placed is in one of them
  std::vector<Settling> order_;               // oldest first; some have moved again since
  std::vector<Tick> settling_since_;          // by slot
};

}  // namespace reckoner
