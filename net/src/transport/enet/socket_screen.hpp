// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace reckoner {

// Anybody can send two kinds of datagrams that ENet does not handle. ENet takes an empty datagram for an
// empty socket and leaves the datagrams behind it unread. A datagram longer than ENet's buffer ends ENet's
// pass with an error.

/// Makes the system drop empty datagrams, and those longer than `longest` bytes, before they enter the
/// socket's buffer. Returns false if the system cannot do that. Only Linux can.
bool screen_socket(std::intptr_t socket, std::size_t longest);

/// How many datagrams the system has dropped at a socket: those that screen_socket() filters out, and those
/// that arrived while the socket's buffer was full. Returns nullopt if the system does not report this. Only
/// Linux does.
[[nodiscard]] std::optional<std::uint64_t> dropped_for_socket(std::intptr_t socket);

/// Result of skip_empty().
struct Skipped {
  int empty = 0;      ///< how many were removed
  bool more = false;  ///< a datagram that is not empty comes next
};

/// Removes empty datagrams from the front of a socket that cannot be screened, at most `most` of them. Does
/// nothing on Windows.
Skipped skip_empty(std::intptr_t socket, int most);

}  // namespace reckoner
