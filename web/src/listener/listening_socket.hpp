// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {

/// A TCP socket that accepts connections.
struct ListeningSocket {
  int file = -1;  ///< descriptor; the caller closes it
  std::uint16_t port = 0;
};

/// Listens on `host`: an address, a name of this machine, or empty for all addresses. Port 0: any free one.
/// Returns nullopt if this machine has no such address or the port is in use.
[[nodiscard]] std::optional<ListeningSocket> listen_on(const std::string& host, std::uint16_t port);

/// A connection, or why there is none.
struct Accepted {
  enum class Outcome : std::uint8_t {
    connection,
    none,            ///< no connection waits
    no_descriptors,  ///< one waits, but the process or the system can open no more files
  };
  Outcome outcome = Outcome::none;
  int file = -1;  ///< descriptor; the caller closes it
  IpAddress host{};
  IpAddress reached{};  ///< the address of this machine that the other end has reached
};

/// Accepts the next connection without waiting.
[[nodiscard]] Accepted accept_connection(int listening_file);

/// Descriptors that this process may have open at once.
[[nodiscard]] std::size_t descriptor_limit();

}  // namespace reckoner::web
