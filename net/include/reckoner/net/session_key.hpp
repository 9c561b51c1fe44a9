// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/net/export.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/messages.hpp>
#include <reckoner/net/secret_key.hpp>

namespace reckoner {

/// The key of a client's session, which nobody computes who does not have the server's secret (keyed BLAKE2b,
/// RFC 7693).
[[nodiscard]] RECKONER_NET_API SessionKey session_key(const SecretKey& secret, ClientId client);

}  // namespace reckoner
