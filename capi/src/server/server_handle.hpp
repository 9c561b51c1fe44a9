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
  mutable reckoner::CallError call_error{};      // of the last call
};

namespace reckoner::capi {

/// Runs `body` with the C++ server of a handle. reckoner_server_call_error() then tells of this call.
template <class Handle, class Body>
reckoner_result with_server(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  handle->call_error = CallError::none;
  return guarded([&] { return body(*handle->server); });
}

/// Runs a `call` of the C++ server that returns a CallResult, and stores the reason for
/// reckoner_server_call_error().
template <class Call>
reckoner_result run(reckoner_server* handle, Call&& call) noexcept {
  return with_server(handle, [&](Server& s) { return to_c(call(s).error(), handle->call_error); });
}

/// Like run(), but returns `failure` for every reason.
template <class Call>
reckoner_result run_or(reckoner_server* handle, reckoner_result failure, Call&& call) noexcept {
  const reckoner_result result = run(handle, call);
  return result == RECKONER_ERROR_UNKNOWN || result == RECKONER_ERROR_REFUSED ? failure : result;
}

}  // namespace reckoner::capi
