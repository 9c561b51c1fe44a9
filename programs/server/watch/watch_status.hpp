// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// What watchers learn about the server, as JSON: its counts, its budget, the connections of the clients with
/// the oldest data, at most 36, and what costs bandwidth: the contents of datagrams, and the ten archetypes,
/// fields and entities that cost most. It names no addresses. `watchers`: how many of the clients watch.
/// Shorter than PipeServer::kMaxStatusBytes.
[[nodiscard]] std::string watch_status(const Server& server, double tick_rate_hz, std::size_t watchers);

}  // namespace reckoner::program
