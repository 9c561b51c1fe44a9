// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/interest/interest_grid.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <cstdint>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner {

/// The positions of all entities, with moving entities apart from those at rest. A search for moving entities
/// may find something new every time; one for entities at rest, only after the client's eye has moved.
///
/// An entity that comes to rest is "settling" for one interest interval and stays in the grid of moving
/// entities meanwhile. Every client searches once in that time, so no client misses it between the two grids.
class SpatialIndex {
 public:
  /// Every client searches once in `interval_ticks`. For `cell_m`, m, see InterestGrid.
  SpatialIndex(double cell_m, Tick interval_ticks)
      : interval_ticks_(interval_ticks), moving_(cell_m), resting_(cell_m) {}

  /// Sets the position, m, of an entity and counts it as moving, whether or not the index has it already.
  void place(std::uint32_t slot, const glm::dvec3& position);
  void remove(std::uint32_t slot);
  /// Call once a tick. Updates the positions of a share of the moving entities, and notes which entities have
  /// come to rest or moved again.
  void keep_up(const EntityTable& entities, Tick tick);

  /// Entities that move or settle.
  [[nodiscard]] const InterestGrid& moving() const { return moving_; }
  /// Entities at rest.
  [[nodiscard]] const InterestGrid& resting() const { return resting_; }

  [[nodiscard]] bool is_settling(std::uint32_t slot) const { return settling_.contains(slot); }
  [[nodiscard]] bool is_resting(std::uint32_t slot) const { return at_rest_.contains(slot); }
  /// The slots of the entities at rest.
  [[nodiscard]] const SlotSet& at_rest() const { return at_rest_; }

 private:
  // An entity that came to rest at tick `since`.
  struct Settling {
    std::uint32_t slot;
    Tick since;
  };
  void sort_out(const EntityTable& entities, Tick tick, std::size_t word);

  Tick interval_ticks_;
  InterestGrid moving_, resting_;
  SlotSet on_the_move_, settling_, at_rest_;  // each slot in the index is in exactly one
  std::vector<Settling> order_;               // oldest first; some entities have moved again since
  std::vector<Tick> settling_since_;          // tick of coming to rest, by slot
};

}  // namespace reckoner
