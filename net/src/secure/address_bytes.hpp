// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/byte_stream.hpp"

#include <array>
#include <cstddef>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::secure {

inline constexpr std::size_t kAddressBytes = 8 + 8 + 2 + 4;

/// An address as bytes, for a keyed hash: host, port and scope. Different addresses have different bytes.
[[nodiscard]] inline std::array<std::byte, kAddressBytes> address_bytes(const SocketAddress& address) {
  std::array<std::byte, kAddressBytes> bytes;
  wire::ByteWriter(bytes)
      .number(address.host.high())
      .number(address.host.low())
      .number(address.port)
      .number(address.scope);
  return bytes;
}

}  // namespace reckoner::secure
