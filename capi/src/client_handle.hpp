// SPDX-License-Identifier: MIT
#pragma once

#include "boundary.hpp"
#include "convert.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/enet_transport.hpp>

/// A client with its transport.
struct reckoner_client {
  std::unique_ptr<reckoner::EnetTransport> transport;
  std::optional<reckoner::Client> client;
  std::vector<reckoner_entity> ids;  // of the poses given out last
  std::vector<float> orientations;   // the same
};

namespace reckoner::capi {

/// Runs `body` with the C++ client of a handle.
template <class Handle, class Body>
reckoner_result with_client(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return RECKONER_ERROR_ARGUMENT;
  return guarded([&] { return body(*handle->client); });
}

}  // namespace reckoner::capi
