// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace reckoner {

// Two kinds of datagrams ENet cannot take, and anybody can send them: an empty one it takes for an empty
// socket, and goes home with the others unread; one that is longer than its buffer ends its pass in an error.

/// Has the system drop such datagrams before they wait in a socket; `longest`: the longest that may, bytes.
/// False where the system does not (others than Linux).
bool screen_socket(std::intptr_t socket, std::size_t longest);

/// How many datagrams for a socket the system has dropped: those of screen_socket(), and what came while the
/// socket's buffer was full. Nothing where it does not tell.
[[nodiscard]] std::optional<std::uint64_t> dropped_for_socket(std::intptr_t socket);

/// What skip_empty() found.
struct Skipped {
  int empty = 0;      ///< so many are gone
  bool more = false;  ///< another datagram is next
};

/// Takes away the empty datagrams that are next in a socket which cannot be screened, `most` at most.
Skipped skip_empty(std::intptr_t socket, int most);

}  // namespace reckoner
