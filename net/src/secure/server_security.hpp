// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"

#include <optional>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {

/// Returns the first invalid setting, or nullopt. `on_every_address`: the server listens on all addresses of
/// the machine.
[[nodiscard]] std::optional<Error> find_invalid_setting(const ServerSecurity& security,
                                                        bool on_every_address);

/// Translates the settings into a gate's configuration. `bound` is the address and port on which the server
/// listens, in the machine's byte order. Fails if `bound` is every address and the settings do not say which
/// addresses tokens must name.
[[nodiscard]] Result<secure::GateConfig> gate_config(const ServerSecurity& security,
                                                     const SocketAddress& bound);

/// How many tokens the server remembers.
[[nodiscard]] secure::UsedTokens::Limits token_limits(const ServerSecurity& security);

}  // namespace reckoner
