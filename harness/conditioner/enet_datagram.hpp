// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace reckoner::harness {

/// The payload of an ENet datagram.
struct EnetPayload {
  /// Payload bytes of all commands; 0 if the datagram contains only ENet's own commands.
  std::size_t bytes = 0;
  bool state = false;  ///< true: some of the payload is unsequenced, so it belongs to the state channel
};

/// Parses the commands of an ENet 1.3 datagram (protocol.h, big endian). Stops at the first malformed
/// command.
[[nodiscard]] EnetPayload enet_payload(std::span<const std::byte> datagram);

}  // namespace reckoner::harness
