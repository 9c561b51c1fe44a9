// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"

#include <optional>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {

/// What of it makes no sense, at a server that listens on one address or on every one. Nothing: all is well.
[[nodiscard]] std::optional<Error> fault_in(const ServerSecurity& security, bool on_every_address);

/// A gate that lets in whom it says. `bound`: where the server listens, with its port, in the machine's byte
/// order. Fails if that is every address and tokens would have to name the server by it.
[[nodiscard]] Result<secure::GateConfig> gate_config(const ServerSecurity& security,
                                                     const ServerAddress& bound);

/// How many tokens it remembers.
[[nodiscard]] secure::UsedTokens::Limits token_limits(const ServerSecurity& security);

}  // namespace reckoner
