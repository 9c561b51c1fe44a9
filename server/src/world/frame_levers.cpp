// SPDX-License-Identifier: MIT
#include "server/src/world/frame_levers.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

double lever_m(const EntityTable& entities, std::uint32_t slot) {
  double lever = 0.0;
  for (const std::uint32_t child : entities.frames().inside(slot))
    lever = std::max(lever, glm::length(entities.slots()[child].truth.position) + lever_m(entities, child));
  return lever;
}

}  // namespace

void FrameLevers::measure(EntityTable& entities, Tick tick) {
  constexpr Tick kTicksBetweenMeasurements = 8;
  if (tick % kTicksBetweenMeasurements != 0) return;
  for (const std::uint32_t slot : slots_) {
    Entity& entity = entities.slots()[slot];
    const double share = entity.levels[0].policy.lever_share();
    for (EntityLevel& level : entity.levels)
      level.policy.set_lever(lever_m(entities, slot));
    if (!entity.id || entity.levels[0].policy.lever_share() == share) continue;
    entity.still_ticks = 0;
    entities.awake().insert(slot);
  }
  std::erase_if(slots_, [&](std::uint32_t slot) { return entities.frames().inside(slot).empty(); });
  for (const std::uint32_t member : entities.frames().members()) {
    const auto slot = static_cast<std::uint32_t>(entities.frames().frame_of(member).slot());
    if (std::find(slots_.begin(), slots_.end(), slot) == slots_.end()) slots_.push_back(slot);
  }
}

}  // namespace reckoner
