// SPDX-License-Identifier: MIT
#pragma once

#include <array>
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

}  // namespace reckoner
