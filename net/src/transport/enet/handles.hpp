// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <enet/enet.h>

namespace reckoner {

/// Deleters for ENet's objects.
struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

/// The lists of a peer's commands that wait to be sent or resent. ENet 1.3.18 has a second list, for reliable
/// packets.
template <class Peer>
[[nodiscard]] auto queues_of(Peer& peer) {
  if constexpr (requires { peer.outgoingSendReliableCommands; }) {
    return std::array{&peer.outgoingCommands, &peer.outgoingSendReliableCommands};
  } else {
    return std::array{&peer.outgoingCommands};
  }
}

/// The command to which a list node belongs. The node is the first member of the command; static_asserts
/// below check this.
template <class Command>
[[nodiscard]] Command& command_at(ENetListNode* link) {
  return *static_cast<Command*>(static_cast<void*>(link));
}
/// Read-only version of command_at().
template <class Command>
[[nodiscard]] const Command& command_at(const ENetListNode* link) {
  return *static_cast<const Command*>(static_cast<const void*>(link));
}
static_assert(offsetof(ENetOutgoingCommand, outgoingCommandList) == 0);
static_assert(offsetof(ENetIncomingCommand, incomingCommandList) == 0);

}  // namespace reckoner
