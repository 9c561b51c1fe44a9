// SPDX-License-Identifier: MIT
// Entities in the frames of others, and the origin that the game counts from.
#include "server_impl.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/frame.hpp>

namespace reckoner {

FrameResult Server::enter_frame(EntityId id, EntityId frame) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  if (entity == nullptr) return FrameResult::unknown_entity;
  const Entity* outer = s.entities.find(frame);
  if (frame && outer == nullptr) return FrameResult::unknown_frame;
  if (entity->frame == frame) return FrameResult::done;
  if (entity->owned) return FrameResult::owned;
  switch (s.entities.frames().fit(id, frame)) {
    case FrameTree::Fit::circle:
      return FrameResult::circle;
    case FrameTree::Fit::too_deep:
      return FrameResult::too_deep;
    case FrameTree::Fit::fits:
      break;
  }
  const State truth = s.as_in(frame, *entity);
  if (!can_travel(truth, s.quantisation[entity->archetype])) return FrameResult::out_of_limits;
  s.put_into(*entity, frame, truth);
  return FrameResult::done;
}

EntityId Server::frame(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  return entity != nullptr ? entity->frame : EntityId{};
}

std::optional<State> Server::in_world(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return std::nullopt;
  State state = impl_->entities.in_world(*entity);
  state.position -= impl_->origin;
  return state;
}

bool Server::set_origin(const glm::dvec3& origin) {
  if (!std::isfinite(origin.x) || !std::isfinite(origin.y) || !std::isfinite(origin.z)) return false;
  impl_->origin = origin;
  return true;
}

State Server::Impl::as_in(EntityId frame, const Entity& entity) const {
  const State world = entities.in_world(entity);
  const Entity* outer = entities.find(frame);
  return relevant(outer != nullptr ? into_frame(entities.in_world(*outer), world) : world, entity.archetype);
}

void Server::Impl::put_into(Entity& entity, EntityId frame, const State& truth) {
  const EntityId before = entity.frame;
  entities.put_into(entity, frame, truth);
  note_frame(entity, before);
}

// It has gone over from another.
void Server::Impl::note_frame(const Entity& entity, EntityId before) {
  surroundings.place(entity, entities);
  note_concern(entity.id);
  if (before) spawned.push_back(before);  // perhaps nobody needs it any more
}

// Whom an entity concerns has changed, and with it whom those in it do.
void Server::Impl::note_concern(EntityId id) {
  spawned.push_back(id);
  for (const std::uint32_t slot : entities.frames().inside(static_cast<std::uint32_t>(id.slot())))
    note_concern(entities.slots()[slot].id);
}

// What lives in the frame of an entity that ends goes over to the frame that this was in. What cannot move
// there as it does stands still; what cannot be there at all ends as well.
void Server::Impl::release(const Entity& ending) {
  const auto inside = entities.frames().inside(static_cast<std::uint32_t>(ending.id.slot()));
  const std::vector<std::uint32_t> released{inside.begin(), inside.end()};
  const EntityId outer = ending.frame;
  for (const std::uint32_t slot : released) {
    Entity& entity = entities.slots()[slot];
    State truth = as_in(outer, entity);
    const Quantisation& q = quantisation[entity.archetype];
    if (!can_travel(truth, q)) truth.velocity = truth.acceleration = truth.angular_velocity = glm::vec3{0.0f};
    const bool lost = !can_travel(truth, q);
    put_into(entity, outer, lost ? State{} : truth);
    if (entity.owned && !lost) (void)ownership.put(entity, truth, next_tick, sessions, transport);
    if (lost) end(entity.id);
  }
}

bool Server::Impl::end(EntityId id) {
  const Entity* entity = entities.find(id);
  if (entity == nullptr) return false;
  release(*entity);
  publisher.ends(*entity);
  if (entity->announced) despawned.emplace_back(id, next_tick);
  if (entity->frame) spawned.push_back(entity->frame);
  surroundings.remove(static_cast<std::uint32_t>(id.slot()));
  fields.remove(id);
  for (const auto& session : sessions.all())
    session->view().forget(id);
  entities.remove(id, next_tick);
  return true;
}

// How far a turn of an entity reaches: to the outermost of what lives in it.
double Server::Impl::lever_m(std::uint32_t slot) const {
  double lever = 0.0;
  for (const std::uint32_t child : entities.frames().inside(slot))
    lever = std::max(lever, glm::length(entities.slots()[child].truth.position) + lever_m(child));
  return lever;
}

// Now and then: who walks about in a frame seldom goes far beyond the others.
void Server::Impl::measure_levers() {
  constexpr Tick kTicks = 8;
  if (next_tick % kTicks != 0) return;
  for (const std::uint32_t slot : levered) {
    Entity& entity = entities.slots()[slot];
    const double share = entity.levels[0].policy.lever_share();
    for (EntityLevel& level : entity.levels)
      level.policy.set_lever(lever_m(slot));
    if (!entity.id || entity.levels[0].policy.lever_share() == share) continue;
    entity.still_ticks = 0;
    entities.awake().insert(slot);
  }
  std::erase_if(levered, [&](std::uint32_t slot) { return entities.frames().inside(slot).empty(); });
  for (const std::uint32_t member : entities.frames().members()) {
    const auto slot = static_cast<std::uint32_t>(entities.frames().frame_of(member).slot());
    if (std::find(levered.begin(), levered.end(), slot) == levered.end()) levered.push_back(slot);
  }
}

}  // namespace reckoner
