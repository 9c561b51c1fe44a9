// SPDX-License-Identifier: MIT
// Creation, ticks and statistics of a server.
#include "capi/src/log.hpp"
#include "capi/src/server/server_handle.hpp"
#include "capi/src/values/shared_fields.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/net/transport.hpp>

using namespace reckoner;
using capi::guarded;
using capi::with;

namespace {

ServerConfig config_of(const reckoner_server_config& c, std::vector<Archetype>&& archetypes) {
  ServerConfig config;
  copy_from_c(capi::kServerFields, config, c);
  config.archetypes = std::move(archetypes);
  config.log = capi::log_sink(c.log, c.log_user, c.log_least);
  return config;
}

reckoner_result create(const reckoner_server_config* given, reckoner_server** out, char* why,
                       std::size_t why_size) {
  reckoner_server_config c;
  reckoner_server_config_init(&c, sizeof c);
  if (const auto result = capi::read_struct(given, c); result != RECKONER_OK) return result;
  const auto refuse = [&](std::string_view fault) {
    capi::say(capi::with_c_names(fault), why, why_size);
    return RECKONER_ERROR_ARGUMENT;
  };
  // Server::create() and the network check all values that neither of these names.
  if (const auto fault = capi::network_fault(c); !fault.empty()) return refuse(fault);
  if (!capi::is_log_level(c.log_least)) return refuse("log_least is not a log level");
  reckoner_result result = RECKONER_OK;
  std::string fault;
  auto archetypes = capi::archetypes_of(c.archetypes, c.archetype_count, result, fault);
  if (!archetypes) {
    capi::say(fault, why, why_size);
    return result;
  }
  ServerConfig server = config_of(c, std::move(*archetypes));
  if (const auto invalid = find_invalid_setting(server)) return refuse(invalid->message);
  auto handle = std::make_unique<reckoner_server>();
  capi::ServerNetworkFailure failure;
  handle->network = capi::open_network(c, failure);
  if (!handle->network) {
    capi::say(failure.reason, why, why_size);
    return failure.result;
  }
  auto created = Server::create(std::move(server), handle->network->transport());
  if (!created) return refuse(created.error());
  handle->object.emplace(std::move(*created));
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
  return server != nullptr ? server->network->port() : std::uint16_t{0};
}

reckoner_result reckoner_server_receive(reckoner_server* server, double now_s) {
  if (!is_valid_stamp(now_s)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](Server& s) {
    s.receive(now_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_tick(reckoner_server* server, double now_s) {
  if (!is_valid_stamp(now_s)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](Server& s) {
    s.tick(now_s);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_next_tick(const reckoner_server* server, std::uint32_t* tick,
                                          double* time_s) {
  return with(server, [&](const Server& s) {
    if (tick != nullptr) *tick = s.next_tick();
    if (time_s != nullptr) *time_s = s.tick_time_s(s.next_tick());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_wait(reckoner_server* server, double seconds) {
  if (!capi::is_duration(seconds)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server&) {
    server->network->wait(seconds);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_shutdown(reckoner_server* server) {
  return with(server, [&](Server& s) {
    s.shutdown();
    return RECKONER_OK;
  });
}
