// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

/// A client with its transport.
struct reckoner_client {
  std::unique_ptr<reckoner::NetworkTransport> transport;  // of a client without reconnects; otherwise
  std::unique_ptr<reckoner::NetworkDialer> dialer;
  bool secure = false;     // whether a reconnecting client has a token
  std::uint64_t game = 0;  // game number of a reconnecting client
  std::optional<reckoner::Client> client;
  std::vector<reckoner_entity> ids;          // of the last returned poses
  std::vector<float> orientations;           // of the last returned poses
  mutable reckoner::CallError call_error{};  // of the last call

  /// The transport in use; null while there is no connection.
  [[nodiscard]] reckoner::NetworkTransport* network() const {
    return dialer ? dialer->transport() : transport.get();
  }
  [[nodiscard]] reckoner::TransportStats network_stats() const {
    return dialer ? dialer->stats() : transport->stats();
  }
};

namespace reckoner::capi {

/// Runs `body` with the C++ client of a handle. reckoner_client_call_error() then tells of this call.
template <class Handle, class Body>
reckoner_result with_client(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  handle->call_error = CallError::none;
  return guarded([&] { return body(*handle->client); });
}

/// Runs a `call` of the C++ client that returns a CallResult, and stores the reason for
/// reckoner_client_call_error().
template <class Call>
reckoner_result run(reckoner_client* handle, Call&& call) noexcept {
  return with_client(handle, [&](Client& c) { return to_c(call(c).error(), handle->call_error); });
}

/// Like run(), but returns `failure` for every reason.
template <class Call>
reckoner_result run_or(reckoner_client* handle, reckoner_result failure, Call&& call) noexcept {
  const reckoner_result result = run(handle, call);
  return result == RECKONER_ERROR_UNKNOWN || result == RECKONER_ERROR_REFUSED ? failure : result;
}

}  // namespace reckoner::capi
