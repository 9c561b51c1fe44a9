// SPDX-License-Identifier: MIT
// The entities of a client: shown poses, and motions of owned entities.
#include "capi/src/client/client_handle.hpp"
#include "capi/src/values/shared_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <reckoner/net/transport.hpp>

using namespace reckoner;
using capi::done_or;
using capi::entity_id;
using capi::run;
using capi::run_or;
using capi::with;

namespace {

reckoner_shown to_c(const ShownEntity& entity) {
  reckoner_shown c{};
  c.archetype = static_cast<std::uint32_t>(entity.info->archetype);
  c.entity = capi::to_c(entity.id);
  c.state = capi::to_c(entity.shown);
  c.shown_time_s = entity.shown_time_s;
  c.age_s = entity.age_s;
  c.frame = capi::to_c(entity.frame);
  c.local = capi::to_c(entity.local);
  c.on_route = entity.route != nullptr ? 1 : 0;
  return c;
}

}  // namespace

reckoner_result reckoner_client_shown(reckoner_client* client, reckoner_shown* shown,
                                      std::uint32_t element_size, std::size_t capacity, std::size_t* count) {
  if (count == nullptr || (shown == nullptr && capacity > 0)) return RECKONER_ERROR_ARGUMENT;
  if (!capi::is_size_of<reckoner_shown>(element_size)) return RECKONER_ERROR_STRUCT;
  *count = 0;
  return with(client, [&](Client& c) {
    const auto all = c.shown();
    *count = all.size();
    auto* place = reinterpret_cast<std::byte*>(shown);
    for (std::size_t i = 0; i < all.size() && i < capacity; ++i, place += element_size)
      capi::put(reinterpret_cast<reckoner_shown*>(place), to_c(all[i]), element_size);
    return done_or(all.size() <= capacity, RECKONER_ERROR_CAPACITY);
  });
}

reckoner_result reckoner_client_shown_one(reckoner_client* client, reckoner_entity entity,
                                          reckoner_shown* shown) {
  if (shown == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(shown); wrong != RECKONER_OK) return wrong;
    for (const ShownEntity& seen : c.shown()) {
      if (seen.id == entity_id(entity)) return capi::give(shown, to_c(seen));
    }
    return RECKONER_NOTHING;
  });
}

reckoner_result reckoner_client_shown_poses(reckoner_client* client, reckoner_poses* poses) {
  if (poses == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(poses); wrong != RECKONER_OK) return wrong;
    static_assert(sizeof(glm::dvec3) == 3 * sizeof(double));
    const ShownPoses shown = c.shown_poses();
    client->ids.clear();
    client->orientations.clear();
    for (const EntityId id : shown.ids)
      client->ids.push_back(capi::to_c(id));
    for (const glm::quat& q : shown.orientations)  // the order in memory depends on GLM's configuration
      client->orientations.insert(client->orientations.end(), {q.x, q.y, q.z, q.w});
    reckoner_poses given{};
    given.count = shown.ids.size();
    given.entities = client->ids.data();
    given.positions = shown.positions.empty() ? nullptr : &shown.positions[0].x;
    given.orientations = client->orientations.data();
    given.shown_time_s = shown.shown_time_s;
    return capi::give(poses, given);
  });
}

reckoner_result reckoner_client_shown_poses_into(reckoner_client* client, reckoner_entity* entities,
                                                 double* positions, float* orientations, std::size_t capacity,
                                                 std::size_t* count, double* shown_time_s) {
  const bool arrays = entities != nullptr && positions != nullptr && orientations != nullptr;
  if (count == nullptr || (!arrays && capacity > 0)) return RECKONER_ERROR_ARGUMENT;
  *count = 0;
  return with(client, [&](Client& c) {
    const ShownPoses shown = c.shown_poses();
    *count = shown.ids.size();
    if (shown_time_s != nullptr) *shown_time_s = shown.shown_time_s;
    const std::size_t written = std::min(capacity, shown.ids.size());
    for (std::size_t i = 0; i < written; ++i) {
      const glm::dvec3& p = shown.positions[i];
      const glm::quat& q = shown.orientations[i];
      entities[i] = capi::to_c(shown.ids[i]);
      std::copy_n(std::array{p.x, p.y, p.z}.data(), 3, positions + 3 * i);
      std::copy_n(std::array{q.x, q.y, q.z, q.w}.data(), 4, orientations + 4 * i);
    }
    return done_or(written == shown.ids.size(), RECKONER_ERROR_CAPACITY);
  });
}

reckoner_result reckoner_client_set_paused(reckoner_client* client, std::int32_t paused) {
  return with(client, [&](Client& c) {
    c.set_paused(paused != 0);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_set_playout(reckoner_client* client, const reckoner_playout* playout) {
  reckoner_playout p;
  reckoner_playout_init(&p, sizeof p);
  if (const auto taken = capi::read_struct(playout, p); taken != RECKONER_OK) return taken;
  if (p.mode < RECKONER_MODE_PRESENT || p.mode > RECKONER_MODE_AHEAD) return RECKONER_ERROR_ARGUMENT;
  if (!capi::is_blend_curve(p.blend_curve)) return RECKONER_ERROR_ARGUMENT;
  return run_or(client, RECKONER_ERROR_ARGUMENT, [&](Client& c) {
    PlayoutConfig to;
    copy_from_c(capi::kPlayoutFields, to, p);
    return c.set_playout(to);
  });
}

const char* reckoner_client_name(const reckoner_client* client, reckoner_entity entity) {
  if (client == nullptr) return nullptr;
  const EntityInfo* info = client->object->info(entity_id(entity));
  return info != nullptr ? info->name.c_str() : nullptr;
}

reckoner_result reckoner_client_short_lived(const reckoner_client* client, reckoner_entity entity,
                                            const std::uint8_t** data, std::size_t* size, double* end_s) {
  if (data != nullptr) *data = nullptr;
  if (size != nullptr) *size = 0;
  if (end_s != nullptr) *end_s = 0.0;
  return with(client, [&](const Client& c) -> reckoner_result {
    const EntityInfo* info = c.info(entity_id(entity));
    if (info == nullptr) return RECKONER_ERROR_UNKNOWN;
    if (!info->short_lived) return RECKONER_NOTHING;
    if (data != nullptr && !info->data.empty())
      *data = reinterpret_cast<const std::uint8_t*>(info->data.data());
    if (size != nullptr) *size = info->data.size();
    if (end_s != nullptr) *end_s = info->end_s.value_or(std::numeric_limits<double>::infinity());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_field(const reckoner_client* client, reckoner_entity entity,
                                      std::uint32_t field, reckoner_value* value) {
  if (value == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) -> reckoner_result {
    const FieldValue* found = c.field(entity_id(entity), field);
    if (found == nullptr) return RECKONER_ERROR_UNKNOWN;
    *value = capi::to_c(*found);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_correct(reckoner_client* client, reckoner_entity entity,
                                        const reckoner_state* shown) {
  return reckoner_client_anticipate(client, entity, shown, 0.0);
}

reckoner_result reckoner_client_anticipate(reckoner_client* client, reckoner_entity entity,
                                           const reckoner_state* shown, double anticipated_s) {
  if (shown == nullptr || !(anticipated_s >= 0.0 && anticipated_s <= kMaxAnticipationS))
    return RECKONER_ERROR_ARGUMENT;
  return run(client,
             [&](Client& c) { return c.correct(entity_id(entity), capi::from_c(*shown), anticipated_s); });
}

reckoner_result reckoner_client_set_origin(reckoner_client* client, const double origin[3]) {
  if (origin == nullptr) return RECKONER_ERROR_ARGUMENT;
  return run_or(client, RECKONER_ERROR_ARGUMENT, [&](Client& c) {
    return c.set_origin({origin[0], origin[1], origin[2]});
  });
}

reckoner_result reckoner_client_move(reckoner_client* client, reckoner_entity entity,
                                     const reckoner_state* state) {
  return reckoner_client_move_in(client, entity, state, 0);
}

namespace {

// `call` is Client::move() or Client::teleport().
reckoner_result move_owned(reckoner_client* client, reckoner_entity entity, const reckoner_state* state,
                           reckoner_entity frame, decltype(&Client::move) call) {
  if (state == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](Client& c) {
    const CallResult moved = (c.*call)(entity_id(entity), capi::from_c(*state), entity_id(frame));
    const reckoner_result result = capi::to_c(moved.error(), client->call_error);
    // The frame may be known, but be the entity itself or inside it.
    const bool refused = moved.error() == CallError::unknown_frame && c.info(entity_id(frame)) != nullptr;
    return refused ? RECKONER_ERROR_REFUSED : result;
  });
}

}  // namespace

reckoner_result reckoner_client_move_in(reckoner_client* client, reckoner_entity entity,
                                        const reckoner_state* state, reckoner_entity frame) {
  return move_owned(client, entity, state, frame, &Client::move);
}

reckoner_result reckoner_client_teleport(reckoner_client* client, reckoner_entity entity,
                                         const reckoner_state* state, reckoner_entity frame) {
  return move_owned(client, entity, state, frame, &Client::teleport);
}

reckoner_result reckoner_client_predict_spawn(reckoner_client* client, std::uint32_t archetype,
                                              const reckoner_state* state, std::uint32_t key,
                                              double patience_s, reckoner_entity* entity) {
  if (state == nullptr || entity == nullptr || !std::isfinite(patience_s)) return RECKONER_ERROR_ARGUMENT;
  *entity = 0;
  return run(client, [&](Client& c) {
    const SpawnResult predicted = c.predict_spawn(archetype, capi::from_c(*state), key, patience_s);
    if (predicted) *entity = capi::to_c(*predicted);
    return predicted ? CallError::none : predicted.error();
  });
}

reckoner_result reckoner_client_drop_prediction(reckoner_client* client, reckoner_entity entity) {
  return run(client, [&](Client& c) { return c.drop_prediction(entity_id(entity)); });
}

std::uint32_t reckoner_client_call_error(const reckoner_client* client) {
  return client != nullptr ? static_cast<std::uint32_t>(client->call_error) : 0;
}

reckoner_result reckoner_client_owned(const reckoner_client* client, reckoner_entity entity,
                                      reckoner_state* state) {
  if (state == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) -> reckoner_result {
    const auto owned = c.owned(entity_id(entity));
    if (!owned) return RECKONER_NOTHING;
    *state = capi::to_c(*owned);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_motion_at(const reckoner_client* client, reckoner_entity entity,
                                          double server_time_s, reckoner_state* state) {
  if (state == nullptr || !std::isfinite(server_time_s)) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) -> reckoner_result {
    const auto motion = c.motion_at(entity_id(entity), server_time_s);
    if (!motion) return RECKONER_NOTHING;
    *state = capi::to_c(*motion);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_owned_frame(const reckoner_client* client, reckoner_entity entity,
                                            reckoner_entity* frame) {
  if (frame == nullptr) return RECKONER_ERROR_ARGUMENT;
  *frame = 0;
  return with(client, [&](const Client& c) {
    *frame = capi::to_c(c.owned_frame(entity_id(entity)));
    return done_or(*frame != 0, RECKONER_NOTHING);
  });
}

reckoner_result reckoner_client_set_user_value(reckoner_client* client, reckoner_entity entity,
                                               std::uint64_t value) {
  return run(client, [&](Client& c) { return c.set_user_value(entity_id(entity), value); });
}

reckoner_result reckoner_client_user_value(const reckoner_client* client, reckoner_entity entity,
                                           std::uint64_t* value) {
  if (value == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) {
    const auto kept = c.user_value(entity_id(entity));
    *value = kept.value_or(0);
    return done_or(kept.has_value(), RECKONER_ERROR_UNKNOWN);
  });
}
