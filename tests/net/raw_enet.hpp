// SPDX-License-Identifier: MIT
#pragma once

#include "enet_datagram.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "tests/support/loopback.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {

/// An end that uses ENet without Reckoner: an older program, a hostile one, or a witness.
class RawEnet {
 public:
  /// `incoming_bandwidth`: what it announces, bytes/s; 0: unlimited.
  explicit RawEnet(std::uint32_t incoming_bandwidth = 0, std::uint32_t mtu = ENET_HOST_DEFAULT_MTU) {
    const ENetAddress here{ENET_HOST_TO_NET_32(kLoopback4.ipv4()), 0};
    host.reset(enet_host_create(&here, 4, 2, incoming_bandwidth, 0));
    EXPECT_TRUE(host);
    host->mtu = mtu;
    for (std::size_t i = 0; i < host->peerCount; ++i)
      host->peers[i].mtu = mtu;
  }

  void connect(std::uint16_t port, std::uint32_t data, std::size_t channels = 2) {
    const ENetAddress to{ENET_HOST_TO_NET_32(kLoopback4.ipv4()), port};
    peer = enet_host_connect(host.get(), &to, channels, data);
    ASSERT_NE(peer, nullptr);
  }
  void send(enet_uint8 channel, std::uint32_t flags, std::size_t bytes) const {
    const std::vector<char> data(bytes, 'x');
    ASSERT_EQ(enet_peer_send(peer, channel, enet_packet_create(data.data(), bytes, flags)), 0);
  }
  /// Begins a datagram to the other end.
  [[nodiscard]] EnetDatagram datagram() const {
    return EnetDatagram(peer->outgoingPeerID | static_cast<unsigned>(peer->outgoingSessionID) << 12);
  }
  void send_raw(EnetDatagram whole) const {
    ENetBuffer buffer{};
    buffer.data = whole.bytes.data();
    buffer.dataLength = whole.bytes.size();
    EXPECT_EQ(enet_socket_send(host->socket, &peer->address, &buffer, 1),
              static_cast<int>(buffer.dataLength));
  }
  /// Handles at most one event, so that the caller can react before ENet sends its next datagram. Returns
  /// true if there was one.
  bool step() {
    ENetEvent event{};
    if (enet_host_service(host.get(), &event, 0) <= 0) return false;
    if (event.type == ENET_EVENT_TYPE_CONNECT) {
      peer = event.peer;
      connected = true;
    }
    if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
      disconnected = true;
      reason = event.data;
    }
    if (event.type == ENET_EVENT_TYPE_RECEIVE) {
      const PacketPtr packet(event.packet);
      sizes.push_back(packet->dataLength);
    }
    return true;
  }
  void turn() {
    while (step()) {
    }
  }

  EnetRuntime runtime;
  HostPtr host;
  ENetPeer* peer = nullptr;
  bool connected = false, disconnected = false;
  std::uint32_t reason = 0;
  std::vector<std::size_t> sizes;  ///< of the packets that have arrived
};

}  // namespace reckoner::test
