// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Explains from errno why a UDP socket could not be opened. `port` is the port to listen on, or null for a
/// client. `host` is the address to listen on.
inline Error socket_error(const std::uint16_t* port, const std::string& host) {
  const int reason = errno;
  const std::string why = std::generic_category().message(reason);
  if (port == nullptr) return Error{"cannot open a UDP socket: " + why};
  const std::string where = "UDP port " + std::to_string(*port);
  if (reason == EADDRINUSE) return Error{where + " is in use"};
  if (reason == EADDRNOTAVAIL) return Error{"this machine does not have the address '" + host + "'"};
  return Error{"cannot listen on " + where + ": " + why};
}

}  // namespace reckoner
