// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace reckoner {

// Anybody can send empty and overlong datagrams. They are cheapest to refuse where they arrive.

/// Makes the system drop empty datagrams, and those longer than `longest` bytes, before they enter the
/// socket's buffer. Returns false if the system cannot do that. Only Linux can.
bool filter_socket(std::intptr_t socket, std::size_t longest);

/// How many datagrams the system has dropped at a socket: those that filter_socket() filters out, and those
/// that arrived while the socket's buffer was full. Returns nullopt if the system does not report this. Only
/// Linux does.
[[nodiscard]] std::optional<std::uint64_t> dropped_for_socket(std::intptr_t socket);

}  // namespace reckoner
