// SPDX-License-Identifier: MIT
// The life of a server: made, run tick by tick, asked how it does.
#include "capi/src/log.hpp"
#include "capi/src/server_handle.hpp"

#include <cmath>
#include <utility>

using namespace reckoner;
using capi::guarded;
using capi::with_server;

namespace {

constexpr std::uint32_t kMostClients = 65'535;
constexpr std::uint32_t kSparePeers = 8;  // for who is to be told that it is full

bool is_rate(double value) {
  return std::isfinite(value) && value >= 0.0;
}

bool makes_sense(const reckoner_server_config& c) {
  const bool rates = is_rate(c.heartbeat_s) && is_rate(c.join_timeout_s) && is_rate(c.updates_per_second) &&
                     is_rate(c.fixed_rate_hz) && is_rate(c.resume_s) && is_rate(c.rewind_s) &&
                     c.rewind_s <= 1.0 && std::isfinite(c.epoch_s);
  const bool interest = is_rate(c.interest_radius_m) && is_rate(c.interest_hysteresis) &&
                        is_rate(c.interest_level_distance_m[0]) && is_rate(c.interest_level_distance_m[1]) &&
                        is_rate(c.interest_interval_s);
  const bool counts = c.max_clients >= 1 && c.max_clients <= kMostClients && c.max_entities >= 1 &&
                      c.max_entities <= kMaxEntities;
  const bool spends_one_way = c.updates_per_second <= 0.0 || c.fixed_rate_hz <= 0.0;
  // Its numbers and the limits' are the transport's to judge, which says what is wrong with which.
  const bool security = c.insecure != 0 ? c.key == nullptr : c.key != nullptr;
  return c.tick_rate_hz >= 1.0 && c.tick_rate_hz <= 1000.0 && rates && interest && counts && spends_one_way &&
         security && capi::is_log_level(c.log_least) && (c.address_count == 0 || c.addresses != nullptr);
}

ServerConfig config_of(const reckoner_server_config& c, std::vector<Archetype>&& archetypes) {
  ServerConfig config;
  config.tick_rate_hz = c.tick_rate_hz;
  config.epoch_s = c.epoch_s;
  config.resume_s = c.resume_s;
  config.archetypes = std::move(archetypes);
  config.max_clients = c.max_clients;
  config.max_entities = c.max_entities;
  config.bytes_per_second = static_cast<std::size_t>(c.bytes_per_second);
  config.follow_link = c.follow_link != 0;
  config.heartbeat_s = c.heartbeat_s;
  config.join_timeout_s = c.join_timeout_s;
  config.updates_per_second = c.updates_per_second;
  config.fixed_rate_hz = c.fixed_rate_hz;
  config.interest = {.radius_m = c.interest_radius_m,
                     .hysteresis = c.interest_hysteresis,
                     .level_distance_m = {c.interest_level_distance_m[0], c.interest_level_distance_m[1]},
                     .interval_s = c.interest_interval_s};
  config.rewind_s = c.rewind_s;
  config.threads = c.threads;
  config.log = capi::log_sink(c.log, c.log_user, c.log_least);
  return config;
}

ListenConfig listening(const reckoner_server_config& c) {
  ListenConfig config{
      .host = c.host != nullptr ? c.host : "",
      .port = c.port,
      .max_peers = c.max_clients + kSparePeers,
      .security = Insecure{},
      .limits = {.datagrams_per_second = c.limit_datagrams_per_second,
                 .bytes_per_second = c.limit_bytes_per_second,
                 .address_datagrams_per_second = c.limit_address_datagrams_per_second,
                 .address_bytes_per_second = c.limit_address_bytes_per_second,
                 .burst_s = c.limit_burst_s,
                 .message_bytes = static_cast<std::size_t>(c.limit_message_bytes),
                 .waiting_bytes = static_cast<std::size_t>(c.limit_waiting_bytes),
                 .backlog_bytes = static_cast<std::size_t>(c.limit_backlog_bytes),
                 .waiting_events = static_cast<std::size_t>(c.limit_waiting_events),
                 .waiting_event_bytes = static_cast<std::size_t>(c.limit_waiting_event_bytes),
                 .silence_s = c.limit_silence_s},
      .log = capi::log_sink(c.log, c.log_user, c.log_least)};
  if (c.insecure == 0) {
    config.security = ServerSecurity{.key = capi::key_of(c.key),
                                     .game = c.game,
                                     .addresses = capi::addresses_of(c.addresses, c.address_count),
                                     .any_server = c.any_server != 0,
                                     .peers_per_address = c.peers_per_address,
                                     .handshakes_per_second = c.handshakes_per_second,
                                     .tokens_per_second = c.tokens_per_second,
                                     .ticket_s = c.ticket_s,
                                     .half_open_s = c.half_open_s,
                                     .sessions_per_client = c.sessions_per_client,
                                     .used_tokens = static_cast<std::size_t>(c.used_tokens),
                                     .used_tokens_per_client = c.used_tokens_per_client};
  }
  return config;
}

reckoner_result create(const reckoner_server_config* given, reckoner_server** out, char* why,
                       std::size_t why_size) {
  reckoner_server_config c;
  reckoner_server_config_init(&c, sizeof c);
  if (const auto result = capi::take(given, c); result != RECKONER_OK) return result;
  if (!makes_sense(c)) {
    capi::say("a value of the configuration is missing or out of range (a key, or insecure, must be given)",
              why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  }
  const ListenConfig network = listening(c);
  if (const auto fault = find_invalid_setting(network)) {
    capi::say(fault->message, why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  }
  reckoner_result result = RECKONER_OK;
  auto archetypes = capi::archetypes_of(c.archetypes, c.archetype_count, result);
  if (!archetypes) {
    capi::say("an archetype makes no sense", why, why_size);
    return result;
  }
  auto transport = NetworkTransport::listen(network);
  if (!transport) {
    capi::say(transport.error(), why, why_size);
    return RECKONER_ERROR_NETWORK;
  }
  auto handle = std::make_unique<reckoner_server>();
  handle->transport = std::move(*transport);
  handle->server.emplace(config_of(c, std::move(*archetypes)), *handle->transport);
  *out = handle.release();
  return RECKONER_OK;
}

}  // namespace

reckoner_result reckoner_server_create(const reckoner_server_config* config, reckoner_server** server,
                                       char* why, std::size_t why_size) {
  capi::say("", why, why_size);
  if (server == nullptr) return RECKONER_ERROR_ARGUMENT;
  *server = nullptr;
  return guarded([&] { return create(config, server, why, why_size); });
}

void reckoner_server_destroy(reckoner_server* server) {
  delete server;
}

std::uint16_t reckoner_server_port(const reckoner_server* server) {
  return server != nullptr ? server->transport->port() : std::uint16_t{0};
}

reckoner_result reckoner_server_receive(reckoner_server* server, double now_s) {
  if (!std::isfinite(now_s)) return RECKONER_ERROR_ARGUMENT;
  return with_server(server, [&](Server& s) {
    s.receive(now_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_tick(reckoner_server* server, double now_s) {
  if (!std::isfinite(now_s)) return RECKONER_ERROR_ARGUMENT;
  return with_server(server, [&](Server& s) {
    s.tick(now_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_next_tick(const reckoner_server* server, std::uint32_t* tick,
                                          double* time_s) {
  return with_server(server, [&](const Server& s) {
    if (tick != nullptr) *tick = s.next_tick();
    if (time_s != nullptr) *time_s = s.tick_time_s(s.next_tick());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_wait(reckoner_server* server, double seconds) {
  if (server == nullptr || !is_rate(seconds)) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] {
    server->transport->wait(seconds);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_shutdown(reckoner_server* server) {
  return with_server(server, [&](Server& s) {
    s.shutdown();
    return RECKONER_OK;
  });
}
