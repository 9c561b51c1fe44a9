// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence.hpp"
#include "net/src/transport/enet/handles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace reckoner {

/// The longest that what blocks a peer's reliable messages waits to be sent again, milliseconds: the round
/// trip and four deviations, as for the first time, but not less than this, which four datagrams a second
/// keep to.
inline constexpr std::uint32_t kHurryMs = 250;

/// ENet doubles the wait before each resend and knows no bound: five losses in a row, which a bad radio link
/// has for one connection in a hundred, keep a player out for 15 s, or all messages behind the lost one. Here
/// the oldest command of each channel, the one that the others wait for, comes again after no more than the
/// first wait. The others keep ENet's doubling, so that a full link is not filled with copies. Call a few
/// times within kHurryMs, between ENet's passes.
inline void hurry_oldest(ENetPeer& peer) {
  std::array<ENetOutgoingCommand*, 2> oldest{};  // of the connection itself, and of its one reliable channel
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
    const enet_uint32 due_ms = command->sentTime + wait_ms;  // which may have passed, and wraps after 49 days
    if (static_cast<std::int32_t>(due_ms - peer.nextTimeout) < 0) peer.nextTimeout = due_ms;
  }
}

}  // namespace reckoner
