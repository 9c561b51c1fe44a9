// SPDX-License-Identifier: MIT
// Statistics and debug data of a server.
#include "capi/src/server/server_handle.hpp"

#include <algorithm>

using namespace reckoner;
using capi::entity_id;
using capi::with;

namespace {

// Writes the number and the size. Either pointer may be null.
reckoner_result give(const SentAmount& amount, std::uint64_t* count, std::uint64_t* bits) {
  if (count != nullptr) *count = amount.count;
  if (bits != nullptr) *bits = amount.bits;
  return RECKONER_OK;
}

}  // namespace

reckoner_result reckoner_server_get_stats(const reckoner_server* server, reckoner_server_stats* stats) {
  return with(server, [&](const Server& s) {
    const ServerStats& counted = s.stats();
    const OwnershipStats& owned = s.ownership_stats();
    const TransportStats& wire = server->network->transport().stats();
    reckoner_server_stats c{};
    c.clients = static_cast<std::uint32_t>(s.client_count());
    c.entities = static_cast<std::uint32_t>(s.entity_count());
    c.closing = static_cast<std::uint32_t>(s.closing_count());
    c.ticks = counted.ticks;
    c.publishes = counted.publishes;
    c.updates_sent = counted.updates_sent;
    c.full_updates_sent = counted.full_updates_sent;
    c.repairs_sent = counted.repairs_sent;
    c.datagrams_sent = counted.datagrams_sent;
    c.state_bytes_sent = counted.state_bytes_sent;
    c.datagrams_lost = counted.datagrams_lost;
    c.malformed = counted.malformed;
    c.times_refused = counted.times_refused;
    c.messages_sent = counted.messages_sent;
    c.messages_dropped = counted.messages_dropped;
    c.messages_received = counted.messages_received;
    c.messages_refused = counted.messages_refused;
    c.events_discarded = counted.events_discarded;
    c.owned_accepted = owned.accepted;
    c.owned_corrected = owned.corrected;
    c.owned_refused = owned.refused;
    c.wire_bytes_sent = wire.wire_bytes_sent;
    c.wire_bytes_received = wire.wire_bytes_received;
    c.transport_refused = wire.refused;
    c.transport_errors = wire.service_errors;
    c.update_bits_sent = counted.update_bits_sent;
    c.route_updates_sent = counted.route_updates_sent;
    c.route_bits_sent = counted.route_bits_sent;
    c.route_entity_ticks = counted.route_entity_ticks;
    c.field_changes_sent = counted.field_changes_sent;
    c.field_repairs_sent = counted.field_repairs_sent;
    c.field_bits_sent = counted.field_bits_sent;
    c.published_first = counted.published_for.first;
    c.published_owner = counted.published_for.owner;
    c.published_teleport = counted.published_for.teleport;
    c.published_frame = counted.published_for.frame;
    c.published_route = counted.published_for.route;
    c.published_due = counted.published_for.due;
    c.owned_late = owned.late;
    c.owned_ahead = owned.ahead;
    c.owned_too_many = owned.too_many;
    c.owned_void_terms = owned.void_terms;
    c.wire_datagrams_sent = wire.datagrams_sent;
    c.wire_datagrams_received = wire.datagrams_received;
    c.payload_bytes_sent = wire.payload_bytes_sent;
    c.payload_bytes_received = wire.payload_bytes_received;
    c.challenges = wire.challenges;
    c.owned_teleports = owned.teleports;
    return capi::give(stats, c);
  });
}

reckoner_result reckoner_server_get_session_stats(const reckoner_server* server, reckoner_client_id client,
                                                  reckoner_session_stats* stats) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(stats); wrong != RECKONER_OK) return wrong;
    const auto found = s.session_stats(ClientId{client});
    if (!found) return RECKONER_NOTHING;
    reckoner_session_stats c{};
    c.connected = found->connected ? 1 : 0;
    c.round_trip_s = found->round_trip_s;
    c.round_trip_deviation_s = found->round_trip_deviation_s;
    c.loss = found->loss;
    c.sent_bytes_per_second = found->sent_bytes_per_second;
    c.budget_bytes_per_second = found->budget_bytes_per_second;
    c.entities = found->entities;
    c.queued_motions = found->queued_motions;
    c.queued_spawns = found->queued_spawns;
    c.queued_messages = found->queued_messages;
    c.queued_message_bytes = found->queued_message_bytes;
    c.sent_age_s = found->sent_age_s;
    c.behind_s = found->behind_s;
    c.datagrams_sent = found->datagrams_sent;
    c.datagrams_lost = found->datagrams_lost;
    c.bytes_sent = found->bytes_sent;
    c.motions_sent = found->motions_sent;
    return capi::give(stats, c);
  });
}

const char* reckoner_sent_content_name(std::uint32_t content) {
  // name_of() returns the whole of a literal.
  return content < kContents ? name_of(static_cast<SentContent>(content)).data() : nullptr;
}

reckoner_result reckoner_server_traffic(const reckoner_server* server, std::uint32_t content,
                                        std::uint64_t* count, std::uint64_t* bits) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (content >= kContents) return RECKONER_ERROR_UNKNOWN;
    return give(s.traffic().by_content[content], count, bits);
  });
}

reckoner_result reckoner_server_archetype_traffic(const reckoner_server* server, std::uint32_t archetype,
                                                  std::uint32_t content, std::uint64_t* count,
                                                  std::uint64_t* bits) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (archetype >= s.archetypes().size() || content >= kEntityContents) return RECKONER_ERROR_UNKNOWN;
    return give(s.traffic().archetypes[archetype].by_content[content], count, bits);
  });
}

reckoner_result reckoner_server_field_traffic(const reckoner_server* server, std::uint32_t archetype,
                                              std::uint32_t field, std::uint64_t* count,
                                              std::uint64_t* bits) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (archetype >= s.archetypes().size() || field >= s.archetypes()[archetype].fields.size())
      return RECKONER_ERROR_UNKNOWN;
    return give(s.traffic().archetypes[archetype].fields[field], count, bits);
  });
}

reckoner_result reckoner_server_traffic_of(const reckoner_server* server, reckoner_entity entity,
                                           reckoner_entity_traffic* traffic) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(traffic); wrong != RECKONER_OK) return wrong;
    const auto found = s.traffic_of(entity_id(entity));
    if (!found) return RECKONER_ERROR_UNKNOWN;
    reckoner_entity_traffic c{};
    c.archetype = static_cast<std::uint32_t>(found->archetype);
    c.updates = found->updates;
    c.motion_bits = found->motion_bits;
    c.spawn_bits = found->spawn_bits;
    c.field_bits = found->field_bits;
    return capi::give(traffic, c);
  });
}

reckoner_result reckoner_server_clients(const reckoner_server* server, reckoner_client_id* clients,
                                        std::size_t capacity, std::size_t* count) {
  if (count == nullptr || (clients == nullptr && capacity > 0)) return RECKONER_ERROR_ARGUMENT;
  *count = 0;
  return with(server, [&](const Server& s) -> reckoner_result {
    const auto all = s.clients();
    for (std::size_t i = 0; i < std::min(capacity, all.size()); ++i)
      clients[i] = all[i].value;
    *count = all.size();
    return all.size() > capacity ? RECKONER_ERROR_CAPACITY : RECKONER_OK;
  });
}

reckoner_result reckoner_server_refused(const reckoner_server* server, std::uint32_t reason,
                                        std::uint64_t* payloads, std::uint64_t* datagrams) {
  return with(server, [&](const Server& s) {
    return capi::refused_for(reason, s.stats().refusals, server->network->transport().stats().refusals,
                             payloads, datagrams);
  });
}

reckoner_result reckoner_server_published(const reckoner_server* server, reckoner_entity entity,
                                          reckoner_state* state, double* time_s) {
  if (state == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const EntityId id = entity_id(entity);
    if (!s.state(id)) return RECKONER_ERROR_UNKNOWN;
    const auto motion = s.published(id);
    if (!motion) return RECKONER_NOTHING;
    *state = capi::to_c(state_at(*motion, motion->time_s));
    if (time_s != nullptr) *time_s = motion->time_s;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_debug(const reckoner_server* server, reckoner_entity entity,
                                      reckoner_entity_debug* debug) {
  if (debug == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(debug); wrong != RECKONER_OK) return wrong;
    const EntityId id = entity_id(entity);
    if (!s.state(id)) return RECKONER_ERROR_UNKNOWN;
    const auto found = s.debug(id);
    if (!found) return RECKONER_NOTHING;
    reckoner_entity_debug given{};
    given.level = found->level;
    given.entity = capi::to_c(found->id);
    given.truth = capi::to_c(found->truth);
    given.published = capi::to_c(found->published);
    given.age_s = found->age_s;
    given.error_m = found->error_m;
    given.error_rad = found->error_rad;
    given.threshold_m = found->threshold_m;
    given.threshold_rad = found->threshold_rad;
    given.clients = found->clients;
    given.frame = capi::to_c(found->frame);
    given.on_route = found->on_route ? 1 : 0;
    given.owned = found->owned ? 1 : 0;
    return capi::give(debug, given);
  });
}
