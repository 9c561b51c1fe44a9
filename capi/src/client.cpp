// SPDX-License-Identifier: MIT
#include "boundary.hpp"
#include "convert.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/messages.hpp>

using namespace reckoner;
using capi::done_or;
using capi::entity_id;
using capi::guarded;

/// A client with its transport.
struct reckoner_client {
  std::unique_ptr<EnetTransport> transport;
  std::optional<Client> client;
  std::vector<reckoner_entity> ids;  // of the poses given out last
  std::vector<float> orientations;   // the same
};

namespace {

template <class Handle, class Body>
reckoner_result with_client(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] { return body(*handle->client); });
}

bool is_rate(double value) {
  return std::isfinite(value) && value >= 0.0;
}

bool makes_sense(const reckoner_client_config& c) {
  const bool times = is_rate(c.delay_s) && is_rate(c.max_delay_s) && is_rate(c.blend_frames) &&
                     is_rate(c.frame_rate_hz) && c.frame_rate_hz > 0.0 && is_rate(c.ack_interval_s) &&
                     is_rate(c.silence_s) && is_rate(c.unconfirmed_s) && is_rate(c.owned_updates_per_second);
  const bool security = c.insecure != 0 ? c.token == nullptr : c.token != nullptr;
  return times && security && c.host != nullptr && c.mode >= RECKONER_PRESENT && c.mode <= RECKONER_DELAYED;
}

ClientConfig config_of(const reckoner_client_config& c, std::vector<Archetype>&& archetypes) {
  ClientConfig config;
  config.archetypes = std::move(archetypes);
  config.playout = {.mode = static_cast<PlayoutMode>(c.mode),
                    .delay_s = c.delay_s,
                    .max_delay_s = c.max_delay_s,
                    .blend_frames = c.blend_frames,
                    .frame_rate_hz = c.frame_rate_hz};
  config.ack_interval_s = c.ack_interval_s;
  config.silence_s = c.silence_s;
  config.unconfirmed_s = c.unconfirmed_s;
  config.owned_updates_per_second = c.owned_updates_per_second;
  return config;
}

reckoner_result create(const reckoner_client_config* given, reckoner_client** out, char* why,
                       std::size_t why_size) {
  reckoner_client_config c;
  reckoner_client_config_init(&c, sizeof c);
  if (const auto result = capi::take(given, c); result != RECKONER_OK) return result;
  std::optional<ClientSecurity> security;
  bool sensible = makes_sense(c);
  if (sensible && c.token != nullptr) {
    auto token = read_token(std::as_bytes(std::span(c.token, ConnectToken::kBytes)));
    sensible = token.has_value();
    if (token) security = ClientSecurity{.token = std::move(*token), .game = c.game};
  }
  if (!sensible) {
    capi::say("a value of the configuration is missing or out of range (a token, or insecure, must be given)",
              why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  }
  reckoner_result result = RECKONER_OK;
  auto archetypes = capi::archetypes_of(c.archetypes, c.archetype_count, result);
  if (!archetypes) {
    capi::say("an archetype makes no sense", why, why_size);
    return result;
  }
  auto transport = EnetTransport::connect(c.host, c.port, kProtocolVersion, security);
  if (!transport) {
    capi::say(transport.error(), why, why_size);
    return RECKONER_ERROR_NETWORK;
  }
  auto handle = std::make_unique<reckoner_client>();
  handle->transport = std::move(*transport);
  handle->client.emplace(config_of(c, std::move(*archetypes)), *handle->transport);
  *out = handle.release();
  return RECKONER_OK;
}

reckoner_shown to_c(const ShownEntity& entity, const Client& client) {
  const EntityInfo* info = client.info(entity.id);
  reckoner_shown c{};
  c.archetype = info != nullptr ? static_cast<std::uint32_t>(info->archetype) : 0;
  c.entity = capi::to_c(entity.id);
  c.state = capi::to_c(entity.shown);
  c.shown_time_s = entity.shown_time_s;
  c.age_s = entity.age_s;
  c.frame = capi::to_c(entity.frame);
  c.local = capi::to_c(entity.local);
  return c;
}

}  // namespace

reckoner_result reckoner_client_create(const reckoner_client_config* config, reckoner_client** client,
                                       char* why, std::size_t why_size) {
  capi::say("", why, why_size);
  if (client == nullptr) return RECKONER_ERROR_ARGUMENT;
  *client = nullptr;
  return guarded([&] { return create(config, client, why, why_size); });
}

void reckoner_client_destroy(reckoner_client* client) {
  delete client;
}

reckoner_result reckoner_client_receive(reckoner_client* client, double local_s) {
  if (!std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    c.receive(local_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_wait(reckoner_client* client, double seconds) {
  if (client == nullptr || !is_rate(seconds)) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] {
    client->transport->wait(seconds);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_leave(reckoner_client* client) {
  return with_client(client, [&](Client& c) {
    c.leave();
    return RECKONER_OK;
  });
}

std::int32_t reckoner_client_status(const reckoner_client* client) {
  return client != nullptr ? static_cast<std::int32_t>(client->client->status()) : -1;
}

const char* reckoner_client_refusal(const reckoner_client* client) {
  return client != nullptr ? client->client->refusal().c_str() : "";
}

reckoner_result reckoner_client_ticket(const reckoner_client* client, std::uint8_t token[1024]) {
  if (client == nullptr || token == nullptr) return RECKONER_ERROR_ARGUMENT;
  return guarded([&]() -> reckoner_result {
    const auto ticket = client->transport->ticket();
    if (!ticket) return RECKONER_NOTHING;
    const auto bytes = write_token(*ticket);
    std::memcpy(token, bytes.data(), bytes.size());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_poll_event(reckoner_client* client, reckoner_client_event* event) {
  if (event == nullptr || event->struct_size < capi::kLeastSize) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) -> reckoner_result {
    const auto polled = c.poll_event();
    if (!polled) return RECKONER_NOTHING;
    reckoner_client_event said{};
    said.kind = static_cast<std::int32_t>(polled->kind);
    said.entity = capi::to_c(polled->entity);
    said.fields = polled->fields;
    return capi::give(event, said);
  });
}

reckoner_result reckoner_client_poll_message(reckoner_client* client, reckoner_message* message) {
  if (message == nullptr || message->struct_size < capi::kLeastSize) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) -> reckoner_result {
    const auto polled = c.poll_message();
    return polled ? capi::give(message, capi::to_c(*polled)) : RECKONER_NOTHING;
  });
}

reckoner_result reckoner_client_send(reckoner_client* client, const void* bytes, std::size_t size,
                                     std::int32_t delivery, const double* time_s) {
  const auto how = capi::delivery_of(delivery);
  if (bytes == nullptr || !how || size < 1 || size > max_message_bytes(*how) ||
      (time_s != nullptr && !can_stamp(*time_s)))
    return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    const std::span payload(static_cast<const std::byte*>(bytes), size);
    const auto stamp = time_s != nullptr ? std::optional<double>{*time_s} : std::nullopt;
    return done_or(c.send(payload, *how, stamp), RECKONER_ERROR_REFUSED);
  });
}

reckoner_result reckoner_client_shown(reckoner_client* client, double local_s, reckoner_shown* shown,
                                      std::uint32_t element_size, std::size_t capacity, std::size_t* count) {
  if (count == nullptr || (shown == nullptr && capacity > 0) || !std::isfinite(local_s))
    return RECKONER_ERROR_ARGUMENT;
  if (element_size < capi::kLeastSize) return RECKONER_ERROR_STRUCT;
  *count = 0;
  return with_client(client, [&](Client& c) {
    const auto frame = c.frame(local_s);
    *count = frame.size();
    auto* place = reinterpret_cast<std::byte*>(shown);
    for (std::size_t i = 0; i < frame.size() && i < capacity; ++i, place += element_size)
      capi::put(reinterpret_cast<reckoner_shown*>(place), to_c(frame[i], c), element_size);
    return done_or(frame.size() <= capacity, RECKONER_ERROR_CAPACITY);
  });
}

reckoner_result reckoner_client_shown_one(reckoner_client* client, double local_s, reckoner_entity entity,
                                          reckoner_shown* shown) {
  if (shown == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) -> reckoner_result {
    for (const ShownEntity& seen : c.frame(local_s)) {
      if (seen.id == entity_id(entity)) return capi::give(shown, to_c(seen, c));
    }
    return RECKONER_NOTHING;
  });
}

reckoner_result reckoner_client_sample(reckoner_client* client, double local_s, reckoner_poses* poses) {
  if (poses == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    static_assert(sizeof(glm::dvec3) == 3 * sizeof(double));
    const ShownPoses sampled = c.sample(local_s);
    client->ids.clear();
    client->orientations.clear();
    for (const EntityId id : sampled.ids)
      client->ids.push_back(capi::to_c(id));
    for (const glm::quat& q : sampled.orientations)  // GLM's order depends on how it is configured
      client->orientations.insert(client->orientations.end(), {q.x, q.y, q.z, q.w});
    reckoner_poses given{};
    given.count = sampled.ids.size();
    given.entities = client->ids.data();
    given.positions = sampled.positions.empty() ? nullptr : &sampled.positions[0].x;
    given.orientations = client->orientations.data();
    given.shown_time_s = sampled.shown_time_s;
    return capi::give(poses, given);
  });
}

reckoner_result reckoner_client_set_paused(reckoner_client* client, std::int32_t paused, double local_s) {
  if (!std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    c.set_paused(paused != 0, local_s);
    return RECKONER_OK;
  });
}

const char* reckoner_client_name(const reckoner_client* client, reckoner_entity entity) {
  if (client == nullptr) return nullptr;
  const EntityInfo* info = client->client->info(entity_id(entity));
  return info != nullptr ? info->name.c_str() : nullptr;
}

reckoner_result reckoner_client_field(const reckoner_client* client, reckoner_entity entity,
                                      std::uint32_t field, reckoner_value* value) {
  if (value == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](const Client& c) -> reckoner_result {
    const FieldValue* found = c.field(entity_id(entity), field);
    if (found == nullptr) return RECKONER_ERROR_UNKNOWN;
    *value = capi::to_c(*found);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_server_time(const reckoner_client* client, double local_s,
                                            double* server_time_s) {
  if (server_time_s == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](const Client& c) -> reckoner_result {
    const auto time_s = c.server_time_s(local_s);
    if (!time_s) return RECKONER_NOTHING;
    *server_time_s = *time_s;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_correct(reckoner_client* client, reckoner_entity entity,
                                        const reckoner_state* shown, double local_s) {
  if (shown == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    const EntityId id = entity_id(entity);
    if (c.correct(id, capi::from_c(*shown), local_s)) return RECKONER_OK;
    return c.info(id) != nullptr ? RECKONER_ERROR_REFUSED : RECKONER_ERROR_UNKNOWN;
  });
}

reckoner_result reckoner_client_set_origin(reckoner_client* client, const double origin[3]) {
  if (origin == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    return done_or(c.set_origin({origin[0], origin[1], origin[2]}), RECKONER_ERROR_ARGUMENT);
  });
}

reckoner_result reckoner_client_move(reckoner_client* client, reckoner_entity entity,
                                     const reckoner_state* state, double local_s) {
  if (state == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](Client& c) {
    const EntityId id = entity_id(entity);
    if (c.move(id, capi::from_c(*state), local_s)) return RECKONER_OK;
    return c.info(id) != nullptr ? RECKONER_ERROR_REFUSED : RECKONER_ERROR_UNKNOWN;
  });
}

reckoner_result reckoner_client_owned(const reckoner_client* client, reckoner_entity entity, double local_s,
                                      reckoner_state* state) {
  if (state == nullptr || !std::isfinite(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with_client(client, [&](const Client& c) -> reckoner_result {
    const auto owned = c.owned(entity_id(entity), local_s);
    if (!owned) return RECKONER_NOTHING;
    *state = capi::to_c(*owned);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_get_stats(const reckoner_client* client, reckoner_client_stats* stats) {
  return with_client(client, [&](const Client& c) {
    const ClientStats& counted = c.stats();
    const TransportStats& wire = client->transport->stats();
    reckoner_client_stats given{};
    given.datagrams_received = counted.datagrams_received;
    given.datagrams_lost = counted.datagrams_lost;
    given.datagrams_stale = counted.datagrams_stale;
    given.updates_applied = counted.updates_applied;
    given.updates_stale = counted.updates_stale;
    given.malformed = counted.malformed;
    given.unknown_references = counted.unknown_references;
    given.state_bytes_received = counted.state_bytes_received;
    given.corrections = counted.corrections;
    given.messages_sent = counted.messages_sent;
    given.messages_dropped = counted.messages_dropped;
    given.messages_received = counted.messages_received;
    given.messages_refused = counted.messages_refused;
    given.wire_bytes_sent = wire.wire_bytes_sent;
    given.wire_bytes_received = wire.wire_bytes_received;
    given.transport_refused = wire.refused;
    given.transport_errors = wire.service_errors;
    given.round_trip_s = counted.round_trip_s;
    given.delay_s = counted.delay_s;
    return capi::give(stats, given);
  });
}
