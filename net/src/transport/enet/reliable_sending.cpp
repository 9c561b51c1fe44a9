// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/reliable_sending.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"

#include <cstddef>
#include <utility>

namespace reckoner {
namespace {

constexpr auto kControl = static_cast<enet_uint8>(Channel::control);

std::uint16_t last_number(const ENetPeer& peer) {
  return peer.channels[kControl].outgoingReliableSequenceNumber;
}

// The sequence number before the oldest unacknowledged command. The search covers the whole lists, because a
// resend changes their order.
std::uint16_t all_done(const ENetPeer& peer) {
  auto oldest = static_cast<std::uint16_t>(last_number(peer) + 1);
  const auto look = [&oldest](const ENetList& list) {
    for (const ENetListNode* at = list.sentinel.next; at != &list.sentinel; at = at->next) {
      const auto& command = command_at<ENetOutgoingCommand>(at);
      const bool counts = command.command.header.channelID == kControl &&
                          (command.command.header.command & ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE) != 0;
      if (counts && sequence_distance(command.reliableSequenceNumber, oldest) < 0) {
        oldest = command.reliableSequenceNumber;
      }
    }
  };
  look(peer.sentReliableCommands);
  for (const ENetList* queue : queues_of(peer))
    look(*queue);
  return static_cast<std::uint16_t>(oldest - 1);
}

}  // namespace

bool ReliableSendQueue::send(ENetPeer& peer, PacketPtr packet) {
  if (packets_.empty() && fits(peer, *packet)) return hand_over(peer, packet);
  packets_.push_back(std::move(packet));
  return true;
}

void ReliableSendQueue::release(ENetPeer& peer) {
  if (packets_.empty() || peer.state != ENET_PEER_STATE_CONNECTED) return;
  forget_acknowledged(peer);
  while (!packets_.empty() && fits(peer, *packets_.front())) {
    if (!hand_over(peer, packets_.front())) return;  // out of memory: try again at the next call
    packets_.pop_front();
  }
}

bool ReliableSendQueue::fits(const ENetPeer& peer, const ENetPacket& packet) const {
  const std::size_t ahead = static_cast<std::uint16_t>(last_number(peer) - done_);
  const std::size_t most = enet_filter::detail::most_fragments(packet.dataLength);
  return ahead + most <= CommandWindow::kCommands &&
         (gone_.empty() || gone_bytes_ + packet.dataLength <= CommandWindow::kBytes);
}

void ReliableSendQueue::forget_acknowledged(const ENetPeer& peer) {
  done_ = all_done(peer);
  while (!gone_.empty() && sequence_distance(done_, gone_.front().last) >= 0) {
    gone_bytes_ -= gone_.front().bytes;
    gone_.pop_front();
  }
}

bool ReliableSendQueue::hand_over(ENetPeer& peer, PacketPtr& packet) {
  if (enet_peer_send(&peer, kControl, packet.get()) != 0) return false;
  gone_bytes_ += packet->dataLength;
  gone_.push_back({last_number(peer), packet->dataLength});
  (void)packet.release();  // ENet owns it now
  return true;
}

}  // namespace reckoner
