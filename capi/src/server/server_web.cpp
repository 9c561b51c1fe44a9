// SPDX-License-Identifier: MIT
// What a server says of its players in browsers.
#include "capi/src/server/server_handle.hpp"
#include "capi/src/server/web_entrance.hpp"

#include <reckoner_web.h>

using namespace reckoner;
using capi::with;

std::uint16_t reckoner_web_port(const reckoner_server* server) {
  const capi::WebEntrance* web = server != nullptr ? server->network->web() : nullptr;
  return web != nullptr ? web->port() : std::uint16_t{0};
}

reckoner_result reckoner_web_has_client(const reckoner_server* server, reckoner_client_id client,
                                        std::int32_t* in_browser) {
  if (in_browser == nullptr) return RECKONER_ERROR_ARGUMENT;
  *in_browser = 0;
  return with(server, [&](const Server& s) -> reckoner_result {
    const PeerId peer = s.peer(ClientId{client});
    if (!peer) return RECKONER_ERROR_UNKNOWN;
    const capi::WebEntrance* web = server->network->web();
    *in_browser = web != nullptr && web->has(peer) ? 1 : 0;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_web_counts(const reckoner_server* server, std::uint32_t* peers,
                                    std::uint32_t* connections) {
  return with(server, [&](const Server&) -> reckoner_result {
    const capi::WebEntrance* web = server->network->web();
    if (web == nullptr) return RECKONER_ERROR_REFUSED;
    if (peers != nullptr) *peers = static_cast<std::uint32_t>(web->peers());
    if (connections != nullptr) *connections = static_cast<std::uint32_t>(web->connections());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_web_channels(const reckoner_server* server, std::uint16_t* port,
                                      std::uint32_t* open) {
  return with(server, [&](const Server&) -> reckoner_result {
    const capi::WebEntrance* web = server->network->web();
    if (web == nullptr) return RECKONER_ERROR_REFUSED;
    if (port != nullptr) *port = web->channel_port();
    if (open != nullptr) *open = static_cast<std::uint32_t>(web->channels());
    return RECKONER_OK;
  });
}
