// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace reckoner {

/// Returns the IPv4 address of a host in digits, so that later connections need no name look-up. Returns
/// `host` unchanged if it or the transport is unknown. `transport` as in ListenConfig.
[[nodiscard]] std::string numeric_host(std::string_view transport, const std::string& host);

}  // namespace reckoner
