// SPDX-License-Identifier: MIT
// Owned entities that live in the frames of others, and go from one to another.
#include "ownership.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/frame.hpp>

namespace reckoner {
namespace {

// What the frame of an entity did in the world, so long after what is known of it.
State frame_after(const EntityTable& entities, EntityId frame, double dt_s) {
  const Entity* entity = entities.find(frame);
  if (entity == nullptr) return State{};
  const State state = extrapolate(entity->truth, dt_s);
  return entity->frame ? out_of_frame(frame_after(entities, entity->frame, dt_s), state) : state;
}

}  // namespace

// The check that a motion is held against: in its own frame. Nothing if the entity cannot go there.
std::optional<OwnerCheck> Ownership::check_in(const Owned& owned, const Entity& entity, const Motion& motion,
                                              const World& world) const {
  const EntityId frame = entity_of(motion.frame);
  const double out_m = glm::length(motion.state.position);
  if (frame == entity.frame) {
    const double was_out_m =
        std::max(owned.rules.frame_reach_m, glm::length(owned.check.last().state.position));
    return frame && out_m > was_out_m ? std::nullopt : std::optional{owned.check};
  }
  if (frame && out_m > owned.rules.frame_reach_m) return std::nullopt;
  const Session* session = world.sessions.find(owned.owner);
  if (session == nullptr || (frame && (world.entities.find(frame) == nullptr || !session->knows(frame))) ||
      world.entities.frames().fit(entity.id, frame) != FrameTree::Fit::fits) {
    return std::nullopt;
  }
  // Where it was expected, at the time of its word and with the frames as they were then, so that what they
  // do themselves is no way of its own.
  const double dt_s = motion.time_s - time_of(tick_);
  Motion last = owned.check.last();
  last.state = state_at(last, motion.time_s);
  last.time_s = motion.time_s;
  if (entity.frame) last.state = out_of_frame(frame_after(world.entities, entity.frame, dt_s), last.state);
  if (frame) last.state = into_frame(frame_after(world.entities, frame, dt_s), last.state);
  last.frame = motion.frame;
  OwnerCheck check = owned.check;
  check.carry_over(last);
  return check;
}

void Ownership::put_into_frame(Entity& entity, const Motion& motion, const World& world) {
  const EntityId before = entity.frame;
  if (entity_of(motion.frame) == before) return;
  world.entities.put_into(entity, entity_of(motion.frame), motion.state);
  reframed_.push_back({entity.id, before});
}

}  // namespace reckoner
