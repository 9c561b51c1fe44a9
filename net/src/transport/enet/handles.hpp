// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <enet/enet.h>

namespace reckoner {

/// How ENet wants its things back.
struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

/// Where a peer's commands wait to be sent, or sent again: ENet 1.3.18 has a second list for reliable
/// packets.
template <class Peer>
[[nodiscard]] auto queues_of(Peer& peer) {
  if constexpr (requires { peer.outgoingSendReliableCommands; }) {
    return std::array{&peer.outgoingCommands, &peer.outgoingSendReliableCommands};
  } else {
    return std::array{&peer.outgoingCommands};
  }
}

/// The command that stands at a place of one of ENet's lists, whose link is the first thing in it.
template <class Command>
[[nodiscard]] Command& command_at(ENetListNode* link) {
  return *static_cast<Command*>(static_cast<void*>(link));
}
/// The same, to read only.
template <class Command>
[[nodiscard]] const Command& command_at(const ENetListNode* link) {
  return *static_cast<const Command*>(static_cast<const void*>(link));
}
static_assert(offsetof(ENetOutgoingCommand, outgoingCommandList) == 0);
static_assert(offsetof(ENetIncomingCommand, incomingCommandList) == 0);

}  // namespace reckoner
