// SPDX-License-Identifier: MIT
// Creation, ticks and statistics of a server.
#include "capi/src/log.hpp"
#include "capi/src/server_handle.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

using namespace reckoner;
using capi::guarded;
using capi::with_server;

namespace {

constexpr std::uint32_t kSparePeers = 8;  // for clients that are refused because the server is full

bool is_rate(double value) {
  return std::isfinite(value) && value >= 0.0;
}

// Faults that only C has: pointers that do not fit, and numbers that name something. Server::create() and the
// transport check all other values. Empty: there is no fault.
std::string_view pointer_fault(const reckoner_server_config& c) {
  if (c.insecure == 0 && c.key == nullptr) return "a key must be given, or insecure must be 1";
  if (c.insecure != 0 && c.key != nullptr) return "insecure is 1 and a key is given; only one is allowed";
  if (c.address_count != 0 && c.addresses == nullptr) return "addresses is null and address_count is not 0";
  if (!capi::is_log_level(c.log_least)) return "log_least is not a log level";
  return {};
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
  ListenConfig config{.host = c.host != nullptr ? c.host : "",
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
  const auto refuse = [&](std::string_view fault) {
    capi::say(capi::with_c_names(fault), why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  };
  if (const auto fault = pointer_fault(c); !fault.empty()) return refuse(fault);
  reckoner_result result = RECKONER_OK;
  std::string fault;
  auto archetypes = capi::archetypes_of(c.archetypes, c.archetype_count, result, fault);
  if (!archetypes) {
    capi::say(fault, why, why_size);
    return result;
  }
  ServerConfig server = config_of(c, std::move(*archetypes));
  if (const auto invalid = find_invalid_setting(server)) return refuse(invalid->message);
  const ListenConfig network = listening(c);
  if (const auto invalid = find_invalid_setting(network)) return refuse(invalid->message);
  auto transport = NetworkTransport::listen(network);
  if (!transport) {
    capi::say(transport.error(), why, why_size);
    return RECKONER_ERROR_NETWORK;
  }
  auto handle = std::make_unique<reckoner_server>();
  handle->transport = std::move(*transport);
  auto created = Server::create(std::move(server), *handle->transport);
  if (!created) return refuse(created.error());
  handle->server.emplace(std::move(*created));
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
