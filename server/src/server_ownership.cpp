// SPDX-License-Identifier: MIT
// Entities that clients own.
#include "server_impl.hpp"

namespace reckoner {

bool Server::give(EntityId id, ClientId owner, const OwnershipRules& rules) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  if (entity == nullptr || s.sessions.find(owner) == nullptr) return false;
  s.ownership.give(*entity, owner, rules, s.next_tick, s.sessions, s.transport);
  s.entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

bool Server::take(EntityId id) {
  Impl& s = *impl_;
  Entity* entity = s.entities.find(id);
  return entity != nullptr && s.ownership.take(*entity, s.sessions, s.transport);
}

std::optional<ClientId> Server::owner(EntityId id) const {
  return impl_->ownership.owner(id);
}

std::optional<State> Server::state(EntityId id) const {
  const Entity* entity = impl_->entities.find(id);
  if (entity == nullptr) return std::nullopt;
  State state =
      entity->owned ? state_at(entity->owned->motion, impl_->time_of(impl_->next_tick)) : entity->truth;
  if (!entity->frame) state.position -= impl_->origin;
  return state;
}

const OwnershipStats& Server::ownership_stats() const {
  return impl_->ownership.stats();
}

bool Server::Impl::put_owned(EntityId id, const State& truth) {
  Entity& entity = *entities.find(id);
  const State state = relevant(counted(truth, entity.frame), entity.archetype);
  if (!can_travel(state, quantisation[entity.archetype])) return false;
  if (!ownership.put(entity, state, next_tick, sessions, transport)) return false;
  entity.teleported = true;
  entities.awake().insert(static_cast<std::uint32_t>(id.slot()));
  return true;
}

void Server::Impl::take_in_owned(std::span<const Ownership::Update> updates, const Session& session,
                                 double now_s) {
  ownership.take_in(updates, session.id(), now_s, entities, sessions, transport);
  for (const Ownership::Reframed& reframed : ownership.reframed()) {
    if (const Entity* entity = entities.find(reframed.entity)) note_frame(*entity, reframed.before);
  }
}

void Server::Impl::release_owned(ClientId client) {
  ended.clear();
  ownership.release(client, ended, entities, sessions, transport);
  for (const EntityId id : ended)
    end(id);
}

}  // namespace reckoner
