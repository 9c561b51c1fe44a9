// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/transport/enet/handles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace reckoner {

/// Lower bound, in milliseconds, of the resend wait that hurry_oldest() sets. It amounts to four datagrams a
/// second.
inline constexpr std::uint32_t kHurryMs = 250;

/// Limits the resend wait for the oldest unacknowledged command of the connection itself and of its reliable
/// channel. All later commands wait for the oldest one.
///
/// ENet doubles the wait before each resend, without a bound. Five losses in a row then block a joining
/// player, or all messages behind the lost one, for 15 s. On a bad radio link, this happens to one connection
/// in a hundred. With this function, ENet resends the oldest command after the first wait again: the
/// round-trip time plus four deviations, but at least kHurryMs. The other commands keep ENet's doubling, so
/// that copies do not fill a saturated link. Call it a few times within kHurryMs, between ENet's passes.
inline void hurry_oldest(ENetPeer& peer) {
  std::array<ENetOutgoingCommand*, 2> oldest{};  // index 0: the connection itself; 1: its reliable channel
  const auto precedes = [](const ENetOutgoingCommand& a, const ENetOutgoingCommand& b) {
    return sequence_distance(a.reliableSequenceNumber, b.reliableSequenceNumber) < 0;
  };
  for (ENetListIterator at = enet_list_begin(&peer.sentReliableCommands);
       at != enet_list_end(&peer.sentReliableCommands); at = enet_list_next(at)) {
    auto& command = command_at<ENetOutgoingCommand>(at);
    constexpr enet_uint8 kConnectionItself = 0xFF;
    ENetOutgoingCommand*& first = oldest[command.command.header.channelID == kConnectionItself ? 0 : 1];
    if (first == nullptr || precedes(command, *first)) first = &command;
  }
  const enet_uint32 wait_ms =
      std::max<enet_uint32>(kHurryMs, peer.roundTripTime + 4 * peer.roundTripTimeVariance);
  for (ENetOutgoingCommand* command : oldest) {
    if (command == nullptr || command->roundTripTimeout <= wait_ms) continue;
    command->roundTripTimeout = wait_ms;
    const enet_uint32 due_ms = command->sentTime + wait_ms;  // may be in the past; wraps after 49 days
    if (static_cast<std::int32_t>(due_ms - peer.nextTimeout) < 0) peer.nextTimeout = due_ms;
  }
}

}  // namespace reckoner
