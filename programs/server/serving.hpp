// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/log.hpp"
#include "programs/common/sessions/status_page.hpp"
#include "programs/server/metrics.hpp"
#include "programs/server/options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {

inline constexpr const char* kServerName = "reckoner-server";

/// Writes the log records of the libraries into the program's log.
struct Sinks {
  explicit Sinks(Log& log);
  LimitedSink server;
  LimitedSink network;
};

/// Opens the port for clients. `security` must exist as long as the transport.
[[nodiscard]] Result<std::unique_ptr<NetworkTransport>> open_transport(
    const ServerOptions& options, const OrInsecure<ServerSecurity>& security, Sinks& sinks);

/// Opens /metrics and /health if the options ask for it. Null without an error if they do not.
[[nodiscard]] Result<std::unique_ptr<StatusPage>> open_page(const ServerOptions& options,
                                                            const ServerMetrics& metrics);

/// Prints and logs where clients and monitoring reach the server. `transport` and `page` may be null; `view`
/// is the address of the live view, empty if there is none.
void say_listening(const ServerOptions& options, const NetworkTransport* transport, const StatusPage* page,
                   const std::string& view, const OrInsecure<ServerSecurity>& security, Log& log);

/// Counts the events of clients, and writes how many log records were suppressed.
void take_events(Server& server, ServerMetrics& metrics, Sinks& sinks);

/// Shuts the server down: clients first get the reliable messages that they still lack. Waits until all
/// clients have confirmed the end, but at most 5 s. `receive` lets the server receive; it is called whenever
/// a datagram has arrived at `transport`, and at least every 10 ms.
void disconnect_clients(Server& server, NetworkTransport& transport, const std::function<void()>& receive,
                        Log& log);

}  // namespace reckoner::program
