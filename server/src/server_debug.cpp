// SPDX-License-Identifier: MIT
// What the server knows of its entities, for who looks on.
#include "server_impl.hpp"

#include <glm/geometric.hpp>

#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

// Levels that nobody follows are not kept up to date, but for the first.
std::size_t finest_followed(const Entity& entity) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (entity.levels[level].subscribers > 0) return level;
  }
  return 0;
}

}  // namespace

std::optional<EntityDebug> Server::debug(EntityId id) const {
  const Impl& s = *impl_;
  const Entity* entity = s.entities.find(id);
  if (entity == nullptr || !entity->announced || s.next_tick == 0) return std::nullopt;
  const std::size_t level = finest_followed(*entity);
  const EntityLevel& followed = entity->levels[level];
  if (followed.stream.number() == 0) return std::nullopt;
  const Motion& motion = followed.stream.motion();
  const Archetype& archetype = s.config.archetypes[entity->archetype];
  const double time_s = s.time_of(s.next_tick - 1);

  EntityDebug debug{.id = id, .truth = s.entities.in_world(*entity), .published = state_at(motion, time_s)};
  if (const Entity* frame = s.entities.find(entity_of(motion.frame)))
    debug.published = out_of_frame(s.entities.in_world(*frame), debug.published);
  debug.age_s = time_s - motion.time_s;
  debug.error_m = glm::distance(debug.truth.position, debug.published.position);
  if (archetype.has_orientation)
    debug.error_rad = angle_between(debug.truth.orientation, debug.published.orientation);
  const double allowed = followed.factor * followed.policy.scale();
  debug.threshold_m = archetype.threshold_m * allowed;
  debug.threshold_rad = archetype.threshold_rad * allowed * followed.policy.lever_share();
  debug.level = static_cast<std::uint8_t>(level);
  for (const EntityLevel& one : entity->levels)
    debug.clients += one.subscribers;
  debug.frame = entity->frame;
  debug.on_route = motion.route != nullptr;
  debug.owned = entity->owned != nullptr;
  debug.truth.position -= s.origin;
  debug.published.position -= s.origin;
  return debug;
}

}  // namespace reckoner
