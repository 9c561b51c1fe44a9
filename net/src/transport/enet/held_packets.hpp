// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// How far reliable commands may run ahead of the oldest one that is not acknowledged: whoever sends keeps to
/// it (HeldPackets), and whoever receives takes nothing that is further ahead (ListWork).
struct CommandWindow {
  static constexpr std::uint16_t kCommands = 1024;   ///< a message longer than a datagram has several
  static constexpr std::size_t kBytes = 128 * 1024;  ///< of payload; a server lets so much wait at the least
};

/// A connection's control packets, in order: ENet sends 64 KiB before it waits for acknowledgements, but goes
/// on with what is acknowledged out of order, so that behind one lost packet any number can pile up at the
/// other end. Here they wait until the one that is missing has come.
class HeldPackets {
 public:
  /// Hands the packet to ENet, or keeps it until release(). False: ENet does not take it.
  bool send(ENetPeer& peer, PacketPtr packet);

  /// Hands ENet what may follow by now. Call before each of ENet's passes as long as some are held.
  void release(ENetPeer& peer);

  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t size() const { return packets_.size(); }

 private:
  struct Gone {
    std::uint16_t last;  ///< number of its last command
    std::size_t bytes;
  };
  [[nodiscard]] bool fits(const ENetPeer& peer, const ENetPacket& packet) const;
  void forget_acknowledged(const ENetPeer& peer);
  bool hand_over(ENetPeer& peer, PacketPtr& packet);

  std::deque<PacketPtr> packets_;
  std::deque<Gone> gone_;       // not known to be acknowledged, with all that went behind them
  std::size_t gone_bytes_ = 0;  // theirs
  std::uint16_t done_ = 0;      // up to there all commands are acknowledged
};

}  // namespace reckoner
