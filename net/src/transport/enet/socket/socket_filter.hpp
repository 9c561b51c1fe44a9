// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include <reckoner/reckoning/result.hpp>

namespace reckoner {

// Anybody can send two kinds of datagrams that ENet does not handle. ENet takes an empty datagram for an
// empty socket and leaves the datagrams behind it unread. A datagram longer than ENet's buffer ends ENet's
// pass with an error.

/// Makes the system drop empty datagrams, and those longer than `longest` bytes, before they enter the
/// socket's buffer. Returns false if the system cannot do that. Only Linux can.
bool filter_socket(std::intptr_t socket, std::size_t longest);

/// How many datagrams the system has dropped at a socket: those that filter_socket() filters out, and those
/// that arrived while the socket's buffer was full. Returns nullopt if the system does not report this. Only
/// Linux does.
[[nodiscard]] std::optional<std::uint64_t> dropped_for_socket(std::intptr_t socket);

/// How long the datagram that was read last had waited in a socket, s. Returns 0 if the system does not know.
/// Only Linux
/// does. The first call for a socket makes the system note arrival times from then on.
[[nodiscard]] double waited_in_socket_s(std::intptr_t socket);

/// Result of skip_empty().
struct Skipped {
  int empty = 0;      ///< how many were removed
  bool more = false;  ///< a datagram that is not empty comes next
};

/// Removes empty datagrams from the front of a socket that cannot be filtered, at most `most` of them. Does
/// nothing on Windows.
Skipped skip_empty(std::intptr_t socket, int most);

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
