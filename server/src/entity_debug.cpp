// SPDX-License-Identifier: MIT
#include "server/src/entity_debug.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <cstddef>
#include <cstdint>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// Returns the finest level with subscribers, or else the finest level. Other levels without subscribers are
// out of date.
std::size_t finest_followed(const Entity& entity) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (entity.levels[level].subscribers > 0) return level;
  }
  return 0;
}

}  // namespace

std::optional<EntityDebug> debug_data(const Entity& entity, const Archetype& archetype,
                                      const ServerWorld& world, double time_s) {
  const std::size_t level = finest_followed(entity);
  const EntityLevel& followed = entity.levels[level];
  if (!entity.announced || followed.stream.number() == 0) return std::nullopt;
  const Motion& motion = followed.stream.motion();

  EntityDebug debug{
      .id = entity.id, .truth = world.entities().in_world(entity), .published = state_at(motion, time_s)};
  if (const Entity* frame = world.find(entity_of(motion.frame)))
    debug.published = out_of_frame(world.entities().in_world(*frame), debug.published);
  debug.age_s = time_s - motion.time_s;
  debug.error_m = glm::distance(debug.truth.position, debug.published.position);
  if (archetype.has_orientation)
    debug.error_rad = angle_between(debug.truth.orientation, debug.published.orientation);
  const double allowed = followed.factor * followed.policy.scale();
  debug.threshold_m = archetype.threshold_m * allowed;
  debug.threshold_rad = archetype.threshold_rad * allowed * followed.policy.lever_share();
  debug.level = static_cast<std::uint8_t>(level);
  for (const EntityLevel& one : entity.levels)
    debug.clients += one.subscribers;
  debug.frame = entity.frame;
  debug.on_route = motion.route != nullptr;
  debug.owned = entity.owned != nullptr;
  debug.truth.position -= world.states().origin();
  debug.published.position -= world.states().origin();
  return debug;
}

}  // namespace reckoner
