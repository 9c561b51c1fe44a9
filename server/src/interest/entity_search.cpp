// SPDX-License-Identifier: MIT
#include "server/src/interest/entity_search.hpp"

#include <glm/geometric.hpp>

namespace reckoner {

std::span<const EntityId> EntitySearch::all() {
  found_.clear();
  for (const Entity& entity : entities_.slots()) {
    if (entity.id) found_.push_back(entity.id);
  }
  return found_;
}

std::span<const EntityId> EntitySearch::near(const glm::dvec3& centre, double radius_m) {
  found_.clear();
  interest_.collect_near(centre, radius_m, entities_, near_slots_);
  near_slots_.for_each([&](std::uint32_t slot) {
    const Entity& entity = entities_.slots()[slot];
    const glm::dvec3 offset = entities_.position_in_world(entity) - centre;
    if (entity.id && glm::dot(offset, offset) <= radius_m * radius_m) found_.push_back(entity.id);
  });
  return found_;
}

}  // namespace reckoner
