// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// How far reliable commands may run ahead of the oldest unacknowledged one. The sender keeps to these limits
/// (HeldPackets). The receiver refuses commands that are further ahead (ListWork).
struct CommandWindow {
  static constexpr std::uint16_t kCommands = 1024;  ///< a message longer than a datagram has several commands
  static constexpr std::size_t kBytes =
      128 * 1024;  ///< of payload; a server's TransportLimits::waiting_bytes should not be lower
};

/// A connection's control packets, in order. ENet sends 64 KiB before it waits for acknowledgements, but it
/// frees the window for packets that are acknowledged out of order. So any number of packets could pile up at
/// the receiver behind one lost packet. This class holds packets back until the receiver has acknowledged the
/// missing one.
class HeldPackets {
 public:
  /// Hands the packet to ENet, or holds it until release(). Returns false if ENet refuses it.
  bool send(ENetPeer& peer, PacketPtr packet);

  /// Hands ENet the held packets that now fit into the window. While packets are held, call it before each of
  /// ENet's passes.
  void release(ENetPeer& peer);

  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t size() const { return packets_.size(); }

 private:
  struct Gone {
    std::uint16_t last;  ///< sequence number of its last command
    std::size_t bytes;
  };
  [[nodiscard]] bool fits(const ENetPeer& peer, const ENetPacket& packet) const;
  void forget_acknowledged(const ENetPeer& peer);
  bool hand_over(ENetPeer& peer, PacketPtr& packet);

  std::deque<PacketPtr> packets_;
  std::deque<Gone> gone_;       // handed to ENet: the oldest unacknowledged packet and all packets after it
  std::size_t gone_bytes_ = 0;  // payload in gone_
  std::uint16_t done_ = 0;      // all commands up to this number are acknowledged
};

}  // namespace reckoner
