// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace reckoner::harness {

/// Bytes of the payload in a datagram of a transport without security, "udp" or "enet". 0 if the datagram
/// only serves the connection, or is malformed. Tells the two apart by their first byte, which is that of
/// "udp" in a datagram of ENet only beyond 1500 connections.
[[nodiscard]] std::size_t datagram_payload_bytes(std::span<const std::byte> datagram);

}  // namespace reckoner::harness
