// SPDX-License-Identifier: MIT
// The entities of a server.
#include "capi/src/server/server_handle.hpp"
#include "capi/src/values/shared_fields.hpp"
#include "server/src/server_settings.hpp"

#include <span>
#include <string>

using namespace reckoner;
using capi::done_or;
using capi::entity_id;
using capi::run;
using capi::run_or;
using capi::with;

namespace {

// Runs a member function of Server that sets the state of an entity, and reports why it failed.
template <class Move>
reckoner_result change_state(reckoner_server* server, reckoner_entity entity, const reckoner_state* truth,
                             Move move) {
  if (truth == nullptr) return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) { return move(s, entity_id(entity), capi::from_c(*truth)); });
}

// Runs a member function of Server that spawns an entity.
template <class Spawn>
reckoner_result spawn(reckoner_server* server, reckoner_entity* entity, Spawn call) {
  return run_or(server, RECKONER_ERROR_REFUSED, [&](Server& s) {
    const SpawnResult spawned = call(s);
    if (spawned) *entity = capi::to_c(*spawned);
    return spawned ? CallError::none : spawned.error();
  });
}

reckoner_result put_state(const std::optional<State>& from, reckoner_state* to) {
  if (to == nullptr) return RECKONER_ERROR_ARGUMENT;
  if (!from) return RECKONER_ERROR_UNKNOWN;
  *to = capi::to_c(*from);
  return RECKONER_OK;
}

reckoner_result list(std::span<const EntityId> from, reckoner_entity* to, std::size_t capacity,
                     std::size_t* count) {
  *count = from.size();
  for (std::size_t i = 0; i < from.size() && i < capacity; ++i)
    to[i] = capi::to_c(from[i]);
  return done_or(from.size() <= capacity, RECKONER_ERROR_CAPACITY);
}

}  // namespace

reckoner_result reckoner_server_entities(const reckoner_server* server, reckoner_entity* entities,
                                         std::size_t capacity, std::size_t* count) {
  if (count == nullptr || (entities == nullptr && capacity > 0)) return RECKONER_ERROR_ARGUMENT;
  *count = 0;
  return with(server, [&](const Server& s) { return list(s.entities(), entities, capacity, count); });
}

reckoner_result reckoner_server_entities_near(const reckoner_server* server, const double centre[3],
                                              double radius_m, reckoner_entity* entities,
                                              std::size_t capacity, std::size_t* count) {
  if (centre == nullptr || count == nullptr || (entities == nullptr && capacity > 0))
    return RECKONER_ERROR_ARGUMENT;
  *count = 0;
  return with(server, [&](const Server& s) {
    return list(s.entities_near({centre[0], centre[1], centre[2]}, radius_m), entities, capacity, count);
  });
}

reckoner_result reckoner_server_set_user_value(reckoner_server* server, reckoner_entity entity,
                                               std::uint64_t value) {
  return run(server, [&](Server& s) { return s.set_user_value(entity_id(entity), value); });
}

reckoner_result reckoner_server_user_value(const reckoner_server* server, reckoner_entity entity,
                                           std::uint64_t* value) {
  if (value == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) {
    const auto kept = s.user_value(entity_id(entity));
    *value = kept.value_or(0);
    return done_or(kept.has_value(), RECKONER_ERROR_UNKNOWN);
  });
}

reckoner_result reckoner_server_spawn(reckoner_server* server, std::uint32_t archetype, const char* name,
                                      const reckoner_state* state, reckoner_entity frame,
                                      reckoner_entity* entity) {
  if (state == nullptr || entity == nullptr) return RECKONER_ERROR_ARGUMENT;
  *entity = 0;
  return spawn(server, entity, [&](Server& s) {
    return s.spawn(archetype, name != nullptr ? name : "", capi::from_c(*state), entity_id(frame));
  });
}

reckoner_result reckoner_server_spawn_short_lived(reckoner_server* server, std::uint32_t archetype,
                                                  const reckoner_state* state, const double* end_s,
                                                  const void* data, std::size_t size,
                                                  reckoner_client_id predicted_by, std::uint32_t prediction,
                                                  reckoner_entity frame, reckoner_entity* entity) {
  if (state == nullptr || entity == nullptr || (data == nullptr && size > 0)) return RECKONER_ERROR_ARGUMENT;
  *entity = 0;
  return spawn(server, entity, [&](Server& s) {
    ShortLived life{.predicted_by = {predicted_by}, .prediction = prediction};
    if (end_s != nullptr) life.end_s = *end_s;
    if (size > 0) life.data = {static_cast<const std::byte*>(data), size};
    return s.spawn_short_lived(archetype, capi::from_c(*state), life, entity_id(frame));
  });
}

reckoner_result reckoner_server_refuse_prediction(reckoner_server* server, reckoner_client_id client,
                                                  std::uint32_t key) {
  return run(server, [&](Server& s) { return s.refuse_prediction({client}, key); });
}

std::uint32_t reckoner_server_call_error(const reckoner_server* server) {
  return server != nullptr ? static_cast<std::uint32_t>(server->call_error) : 0;
}

reckoner_result reckoner_server_despawn(reckoner_server* server, reckoner_entity entity) {
  return run(server, [&](Server& s) { return s.despawn(entity_id(entity)); });
}

reckoner_result reckoner_server_move(reckoner_server* server, reckoner_entity entity,
                                     const reckoner_state* truth) {
  return change_state(server, entity, truth,
                      [](Server& s, EntityId id, const State& state) { return s.move(id, state); });
}

reckoner_result reckoner_server_teleport(reckoner_server* server, reckoner_entity entity,
                                         const reckoner_state* truth) {
  return change_state(server, entity, truth,
                      [](Server& s, EntityId id, const State& state) { return s.teleport(id, state); });
}

reckoner_result reckoner_server_state(const reckoner_server* server, reckoner_entity entity,
                                      reckoner_state* state) {
  return with(server, [&](const Server& s) { return put_state(s.state(entity_id(entity)), state); });
}

reckoner_result reckoner_server_in_world(const reckoner_server* server, reckoner_entity entity,
                                         reckoner_state* state) {
  return with(server, [&](const Server& s) { return put_state(s.in_world(entity_id(entity)), state); });
}

reckoner_result reckoner_server_enter_frame(reckoner_server* server, reckoner_entity entity,
                                            reckoner_entity frame) {
  return run(server, [&](Server& s) { return s.enter_frame(entity_id(entity), entity_id(frame)); });
}

reckoner_result reckoner_server_set_boardable(reckoner_server* server, reckoner_entity entity,
                                              std::int32_t boardable) {
  return run_or(server, RECKONER_ERROR_UNKNOWN,
                [&](Server& s) { return s.set_boardable(entity_id(entity), boardable != 0); });
}

reckoner_result reckoner_server_frame_of(const reckoner_server* server, reckoner_entity entity,
                                         reckoner_entity* frame) {
  if (frame == nullptr) return RECKONER_ERROR_ARGUMENT;
  *frame = 0;
  return with(server, [&](const Server& s) -> reckoner_result {
    const EntityId id = entity_id(entity);
    if (!s.state(id)) return RECKONER_ERROR_UNKNOWN;
    *frame = capi::to_c(s.frame_of(id));
    return done_or(*frame != 0, RECKONER_NOTHING);
  });
}

reckoner_result reckoner_server_set_origin(reckoner_server* server, const double origin[3]) {
  if (origin == nullptr) return RECKONER_ERROR_ARGUMENT;
  return run_or(server, RECKONER_ERROR_ARGUMENT, [&](Server& s) {
    return s.set_origin({origin[0], origin[1], origin[2]});
  });
}

reckoner_result reckoner_server_set_field(reckoner_server* server, reckoner_entity entity,
                                          std::uint32_t field, const reckoner_value* value) {
  const auto given = value != nullptr ? capi::from_c(*value) : std::nullopt;
  if (!given) return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) { return s.set_field(entity_id(entity), field, *given); });
}

reckoner_result reckoner_server_field(const reckoner_server* server, reckoner_entity entity,
                                      std::uint32_t field, reckoner_value* value) {
  if (value == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const auto found = s.field(entity_id(entity), field);
    if (!found) return RECKONER_ERROR_UNKNOWN;
    *value = capi::to_c(*found);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_give(reckoner_server* server, reckoner_entity entity,
                                     reckoner_client_id owner, const reckoner_ownership_rules* rules) {
  reckoner_ownership_rules c;
  reckoner_ownership_rules_init(&c, sizeof c);
  if (rules != nullptr) {
    if (const auto result = capi::read_struct(rules, c); result != RECKONER_OK) return result;
  }
  if (c.policy < RECKONER_OWNER_POLICY_ACCEPT || c.policy > RECKONER_OWNER_POLICY_REFUSE ||
      c.gone < RECKONER_OWNER_GONE_REST || c.gone > RECKONER_OWNER_GONE_DESPAWN)
    return RECKONER_ERROR_ARGUMENT;
  OwnershipRules given;
  copy_from_c(capi::kOwnershipFields, given, c);
  if (find_invalid<OwnershipRules>(kOwnershipSettings, given)) return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) { return s.give(entity_id(entity), ClientId{owner}, given); });
}

reckoner_result reckoner_server_revoke(reckoner_server* server, reckoner_entity entity) {
  const reckoner_result result = run(server, [&](Server& s) { return s.revoke(entity_id(entity)); });
  return result == RECKONER_ERROR_REFUSED ? RECKONER_NOTHING : result;  // no client owns it
}

reckoner_result reckoner_server_owner(const reckoner_server* server, reckoner_entity entity,
                                      reckoner_client_id* owner) {
  if (owner == nullptr) return RECKONER_ERROR_ARGUMENT;
  *owner = 0;
  return with(server, [&](const Server& s) -> reckoner_result {
    const EntityId id = entity_id(entity);
    if (!s.state(id)) return RECKONER_ERROR_UNKNOWN;
    *owner = s.owner(id).value_or(ClientId{}).value;
    return done_or(*owner != 0, RECKONER_NOTHING);
  });
}
