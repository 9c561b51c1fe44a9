// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/interest/interest.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <span>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Answers the game's searches for entities. A result is valid until the next search.
class EntitySearch {
 public:
  /// Both arguments must outlive this object.
  EntitySearch(const EntityTable& entities, const Interest& interest)
      : entities_(entities), interest_(interest) {}

  /// All entities, in order of slot.
  [[nodiscard]] std::span<const EntityId> all();
  /// The entities at most `radius_m` from `centre` (m, in the server's world), in order of slot.
  [[nodiscard]] std::span<const EntityId> near(const glm::dvec3& centre, double radius_m);

 private:
  const EntityTable& entities_;
  const Interest& interest_;
  std::vector<EntityId> found_;
  SlotSet near_slots_;  // scratch
};

}  // namespace reckoner
