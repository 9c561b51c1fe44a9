// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/token_gate.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner::web {

/// The gate of a listener's clients. `port`: the TCP port in use. Fails if no token could name this server.
[[nodiscard]] Result<TokenGate> token_gate(const WebConfig& config, std::uint16_t port);

/// The present time of the machine, for the gate.
[[nodiscard]] TokenTime token_time();

}  // namespace reckoner::web
