// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/server/web_entrance.hpp"
#include "capi/src/values/calls.hpp"

#include <memory>
#include <optional>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

/// A server with its transports.
struct reckoner_server {
  std::unique_ptr<reckoner::NetworkTransport> transport;  // of native clients
  std::unique_ptr<reckoner::capi::WebEntrance> web{};     // of browsers; null: there are none
  std::optional<reckoner::Server> object;                 // destroyed first: it disconnects its clients
  std::optional<reckoner::ServerEvent> event{};           // last polled; the caller has a pointer to its text
  mutable reckoner::CallError call_error{};               // of the last call

  /// The transport of all clients.
  [[nodiscard]] reckoner::Transport& all() const { return web != nullptr ? web->all() : *transport; }
};
