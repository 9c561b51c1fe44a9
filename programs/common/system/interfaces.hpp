// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::program {

/// The addresses of this machine, including loopback, without link-local ones, each with port 0. Empty if the
/// system does not tell them.
[[nodiscard]] std::vector<SocketAddress> own_addresses();

}  // namespace reckoner::program
