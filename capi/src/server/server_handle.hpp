// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"

#include <memory>
#include <optional>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

/// A server with its transport.
struct reckoner_server {
  std::unique_ptr<reckoner::NetworkTransport> transport;
  std::optional<reckoner::Server> server;        // destroyed first: it disconnects its clients
  std::optional<reckoner::ServerEvent> event{};  // last polled; the caller has a pointer to its text
  reckoner::CallError call_error{};              // of the last call that spawned or moved an entity
};

namespace reckoner::capi {

/// Runs `body` with the C++ server of a handle.
template <class Handle, class Body>
reckoner_result with_server(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] { return body(*handle->server); });
}

/// The result of a refused change: the entity is unknown, or the server refused the change.
[[nodiscard]] inline reckoner_result refused(const Server& server, EntityId id) {
  return server.state(id) ? RECKONER_ERROR_REFUSED : RECKONER_ERROR_UNKNOWN;
}

}  // namespace reckoner::capi
