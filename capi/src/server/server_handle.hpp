// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/server/server_network.hpp"
#include "capi/src/values/calls.hpp"

#include <memory>
#include <optional>

#include <reckoner/server/server.hpp>

/// A server with its network.
struct reckoner_server {
  std::unique_ptr<reckoner::capi::ServerNetwork> network;
  std::optional<reckoner::Server> object;        // destroyed first: it disconnects its clients
  std::optional<reckoner::ServerEvent> event{};  // last polled; the caller has a pointer to its text
  mutable reckoner::CallError call_error{};      // of the last call
};
