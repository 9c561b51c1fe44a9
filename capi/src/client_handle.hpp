// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/boundary.hpp"
#include "capi/src/convert.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

/// A client with its transport.
struct reckoner_client {
  std::unique_ptr<reckoner::NetworkTransport> transport;  // of a client that has one connection; else
  std::unique_ptr<reckoner::NetworkDialer> dialer;
  bool secure = false;     // of one that reconnects: it has a token
  std::uint64_t game = 0;  // the same: as given
  std::optional<reckoner::Client> client;
  std::vector<reckoner_entity> ids;  // of the poses given out last
  std::vector<float> orientations;   // the same

  /// Null if there is none at present.
  [[nodiscard]] reckoner::NetworkTransport* network() const {
    return dialer ? dialer->transport() : transport.get();
  }
  [[nodiscard]] reckoner::TransportStats network_stats() const {
    return dialer ? dialer->stats() : transport->stats();
  }
};

namespace reckoner::capi {

/// Runs `body` with the C++ client of a handle.
template <class Handle, class Body>
reckoner_result with_client(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] { return body(*handle->client); });
}

}  // namespace reckoner::capi
