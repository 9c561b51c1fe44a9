// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace reckoner::harness {

/// What a datagram of ENet's carries for those above it.
struct EnetPayload {
  std::size_t bytes = 0;  ///< of payload, all commands together; 0 for ENet's own
  bool state = false;     ///< some of it went unsequenced: the state channel
};

/// Reads the commands of an ENet 1.3 datagram (protocol.h, big endian). What does not look like one carries
/// nothing from there on.
[[nodiscard]] EnetPayload enet_payload(std::span<const std::byte> datagram);

}  // namespace reckoner::harness
