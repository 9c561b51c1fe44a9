// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_library.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

#include <enet/enet.h>

#include <reckoner/net/transport.hpp>

namespace reckoner::test {

/// An ENet peer with lists in any state, built by hand. It never sends or receives.
class EnetLists {
 public:
  /// `taken`: the last number received in order. `last_given`: the number of the last sent command.
  EnetLists(std::uint16_t taken, std::uint16_t last_given) {
    peer.channels = channels_;
    peer.channelCount = 2;
    ENetChannel& control = channels_[static_cast<std::size_t>(Channel::control)];
    control.incomingReliableSequenceNumber = taken;
    control.outgoingReliableSequenceNumber = last_given;
    for (ENetList* list : {&control.incomingReliableCommands, &peer.sentReliableCommands})
      empty(*list);
    for (ENetList* queue : queues_of(peer))
      empty(*queue);
  }
  EnetLists(const EnetLists&) = delete;
  EnetLists& operator=(const EnetLists&) = delete;

  /// Adds a command that has arrived and waits. Call in ascending order.
  void wait(std::uint16_t number) {
    ENetIncomingCommand& made = waiting_.emplace_back();
    made.reliableSequenceNumber = number;
    append(channels_[static_cast<std::size_t>(Channel::control)].incomingReliableCommands,
           made.incomingCommandList);
  }
  /// Adds a command that was sent and is not acknowledged.
  void send(std::uint16_t number, std::uint8_t channel = 0) {
    append(peer.sentReliableCommands, make(number, channel, 1).outgoingCommandList);
  }
  /// Adds a command that waits to be sent, or to be sent again if `attempts` is above zero.
  void queue(std::uint16_t number, std::uint16_t attempts, std::uint8_t channel = 0) {
    append(peer.outgoingCommands, make(number, channel, attempts).outgoingCommandList);
  }

  ENetPeer peer{};

 private:
  static void empty(ENetList& list) { list.sentinel = {&list.sentinel, &list.sentinel}; }
  static void append(ENetList& list, ENetListNode& node) {
    node = {&list.sentinel, list.sentinel.previous};
    node.previous->next = list.sentinel.previous = &node;
  }
  ENetOutgoingCommand& make(std::uint16_t number, std::uint8_t channel, std::uint16_t attempts) {
    ENetOutgoingCommand& made = outgoing_.emplace_back();
    made.reliableSequenceNumber = number;
    made.sendAttempts = attempts;
    made.command.header.command = static_cast<enet_uint8>(int{ENET_PROTOCOL_COMMAND_SEND_RELIABLE} |
                                                          int{ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE});
    made.command.header.channelID = channel;
    return made;
  }

  ENetChannel channels_[2]{};
  std::deque<ENetIncomingCommand> waiting_;
  std::deque<ENetOutgoingCommand> outgoing_;
};

}  // namespace reckoner::test
