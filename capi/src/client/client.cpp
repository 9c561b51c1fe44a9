// SPDX-License-Identifier: MIT
// Creation, events and messages of a client.
#include "capi/src/client/client_handle.hpp"
#include "capi/src/log.hpp"
#include "capi/src/values/shared_fields.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/net/transport.hpp>

using namespace reckoner;
using capi::guarded;
using capi::run_or;
using capi::with;

namespace {

// Numbers that name something. network_fault() checks the network, Client::create() all other values. Empty:
// there is no fault.
std::string_view number_fault(const reckoner_client_config& c) {
  if (c.mode < RECKONER_MODE_PRESENT || c.mode > RECKONER_MODE_AHEAD) return "mode is not a playout mode";
  if (!capi::is_blend_curve(c.blend_curve)) return "blend_curve is not a curve of blends";
  if (!capi::is_log_level(c.log_least)) return "log_least is not a log level";
  return {};
}

ClientConfig config_of(const reckoner_client_config& c, std::vector<Archetype>&& archetypes) {
  ClientConfig config;
  config.archetypes = std::move(archetypes);
  copy_from_c(capi::kClientFields, config, c);
  config.log = capi::log_sink(c.log, c.log_user, c.log_least);
  return config;
}

reckoner_result create(const reckoner_client_config* given, reckoner_client** out, char* why,
                       std::size_t why_size) {
  reckoner_client_config c;
  reckoner_client_config_init(&c, sizeof c);
  if (const auto result = capi::read_struct(given, c); result != RECKONER_OK) return result;
  const auto refuse = [&](std::string_view fault) {
    capi::say(capi::with_c_names(fault), why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  };
  if (const auto fault = capi::network_fault(c); !fault.empty()) return refuse(fault);
  if (const auto fault = number_fault(c); !fault.empty()) return refuse(fault);
  reckoner_result result = RECKONER_OK;
  std::string fault;
  auto archetypes = capi::archetypes_of(c.archetypes, c.archetype_count, result, fault);
  if (!archetypes) {
    capi::say(fault, why, why_size);
    return result;
  }
  ClientConfig config = config_of(c, std::move(*archetypes));
  if (const auto invalid = find_invalid_setting(config)) return refuse(invalid->message);
  auto handle = std::make_unique<reckoner_client>();
  capi::NetworkFailure failure;
  handle->network = capi::open_network(c, failure);
  if (!handle->network) {
    capi::say(failure.reason, why, why_size);
    return failure.result;
  }
  auto created = handle->network->create_client(std::move(config));
  if (!created) return refuse(created.error());
  handle->object.emplace(std::move(*created));
  *out = handle.release();
  return RECKONER_OK;
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

reckoner_result reckoner_client_update(reckoner_client* client, double local_s) {
  if (!is_valid_stamp(local_s)) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](Client& c) {
    c.update(local_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_wait(reckoner_client* client, double seconds) {
  if (!capi::is_duration(seconds)) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client&) {
    client->network->wait(seconds);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_leave(reckoner_client* client) {
  return with(client, [&](Client& c) {
    c.leave();
    return RECKONER_OK;
  });
}

std::int32_t reckoner_client_status(const reckoner_client* client) {
  return client != nullptr ? static_cast<std::int32_t>(client->object->status()) : -1;
}

const char* reckoner_client_refusal(const reckoner_client* client) {
  return client != nullptr ? client->object->refusal().c_str() : "";
}

reckoner_result reckoner_client_lost_for(const reckoner_client* client, double* seconds) {
  if (seconds == nullptr) return RECKONER_ERROR_ARGUMENT;
  *seconds = 0.0;
  return with(client, [&](const Client& c) {
    *seconds = c.lost_for_s();
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_set_token(reckoner_client* client, const std::uint8_t token[1024]) {
  if (token == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client&) { return client->network->set_token(token); });
}

reckoner_result reckoner_client_ticket(const reckoner_client* client, std::uint8_t token[1024]) {
  if (token == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client&) { return client->network->ticket(token); });
}

reckoner_result reckoner_client_poll_event(reckoner_client* client, reckoner_client_event* event) {
  return with(client, [&](Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(event); wrong != RECKONER_OK) return wrong;
    const auto polled = c.poll_event();
    if (!polled) return RECKONER_NOTHING;
    reckoner_client_event said{};
    said.kind = static_cast<std::int32_t>(polled->kind);
    said.entity = capi::to_c(polled->entity);
    said.fields = polled->fields;
    said.predicted = capi::to_c(polled->predicted);
    return capi::give(event, said);
  });
}

reckoner_result reckoner_client_poll_message(reckoner_client* client, reckoner_message* message) {
  return with(client, [&](Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(message); wrong != RECKONER_OK) return wrong;
    const auto polled = c.poll_message();
    return polled ? capi::give(message, capi::to_c(*polled)) : RECKONER_NOTHING;
  });
}

reckoner_result reckoner_client_send(reckoner_client* client, const void* bytes, std::size_t size,
                                     std::int32_t delivery, const double* time_s) {
  const auto how = capi::delivery_of(delivery);
  if (bytes == nullptr || !how || size < 1 || size > max_message_bytes(*how) ||
      (time_s != nullptr && !is_valid_stamp(*time_s)))
    return RECKONER_ERROR_ARGUMENT;
  return run_or(client, RECKONER_ERROR_REFUSED, [&](Client& c) {
    const std::span payload(static_cast<const std::byte*>(bytes), size);
    const auto stamp = time_s != nullptr ? std::optional<double>{*time_s} : std::nullopt;
    return c.send(payload, *how, stamp);
  });
}

reckoner_result reckoner_client_flush(reckoner_client* client) {
  return with(client, [&](Client& c) {
    c.flush();
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_server_time(const reckoner_client* client, double* server_time_s) {
  if (server_time_s == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(client, [&](const Client& c) -> reckoner_result {
    const auto time_s = c.server_time_s();
    if (!time_s) return RECKONER_NOTHING;
    *server_time_s = *time_s;
    return RECKONER_OK;
  });
}
