// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/enet/socket/enet_protocol.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// How far reliable commands may run ahead of the oldest unacknowledged one. The sender keeps to these limits
/// (ReliableSendQueue). The receiver refuses commands that are further ahead (SearchCostLimit).
struct CommandWindow {
  static constexpr std::uint16_t kCommands = 1024;  ///< a message longer than a datagram has several commands
  static constexpr std::size_t kBytes =
      128 * 1024;  ///< of payload; a server's TransportLimits::waiting_bytes should not be lower
};

/// A connection's control packets, in order. ENet sends 64 KiB before it waits for acknowledgements, but it
/// frees the window for packets that are acknowledged out of order. So any number of packets could pile up at
/// the receiver behind one lost packet. This class holds packets back until the receiver has acknowledged the
/// missing one.
class ReliableSendQueue {
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

/// Lower bound, in milliseconds, of the resend wait that limit_resend_wait() sets. It amounts to four
/// datagrams a second.
inline constexpr std::uint32_t kMinResendWaitMs = 250;

/// Limits the resend wait for the oldest unacknowledged command of the connection itself and of its reliable
/// channel. All later commands wait for the oldest one.
///
/// ENet doubles the wait before each resend, without a bound. Five losses in a row then block a joining
/// player, or all messages behind the lost one, for 15 s. On a bad radio link, this happens to one connection
/// in a hundred. With this function, ENet resends the oldest command after the first wait again: the
/// round-trip time plus four deviations, but at least kMinResendWaitMs. The other commands keep ENet's
/// doubling, so that copies do not fill a saturated link. Call it a few times within kMinResendWaitMs,
/// between ENet's passes.
inline void limit_resend_wait(ENetPeer& peer) {
  std::array<ENetOutgoingCommand*, 2> oldest{};  // index 0: the connection itself; 1: its reliable channel
  const auto precedes = [](const ENetOutgoingCommand& a, const ENetOutgoingCommand& b) {
    return sequence_distance(a.reliableSequenceNumber, b.reliableSequenceNumber) < 0;
  };
  for (ENetListIterator at = enet_list_begin(&peer.sentReliableCommands);
       at != enet_list_end(&peer.sentReliableCommands); at = enet_list_next(at)) {
    auto& command = command_at<ENetOutgoingCommand>(at);
    ENetOutgoingCommand*& first =
        oldest[command.command.header.channelID == enet_protocol::kConnectionItself ? 0 : 1];
    if (first == nullptr || precedes(command, *first)) first = &command;
  }
  const enet_uint32 wait_ms =
      std::max<enet_uint32>(kMinResendWaitMs, peer.roundTripTime + 4 * peer.roundTripTimeVariance);
  for (ENetOutgoingCommand* command : oldest) {
    if (command == nullptr || command->roundTripTimeout <= wait_ms) continue;
    command->roundTripTimeout = wait_ms;
    const enet_uint32 due_ms = command->sentTime + wait_ms;  // may be in the past; wraps after 49 days
    if (static_cast<std::int32_t>(due_ms - peer.nextTimeout) < 0) peer.nextTimeout = due_ms;
  }
}

}  // namespace reckoner
