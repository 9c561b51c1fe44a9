// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/list_work.hpp"

#include "net/src/transport/enet/enet_filter.hpp"
#include "net/src/transport/enet/handles.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reckoner {
namespace {

constexpr std::uint16_t kHalfWay = 0x8000;  // numbers go round: what is further ahead than that is behind
constexpr std::uint8_t kConnectionItself = 0xFF;

// How many numbers further on.
std::uint16_t ahead(std::uint16_t number, std::uint16_t of) {
  return static_cast<std::uint16_t>(number - of);
}

// What arrived on a channel and waits there, in order. ENet looks for a command's place from the end.
class Waiting {
 public:
  explicit Waiting(const ENetChannel& channel) : taken_(channel.incomingReliableSequenceNumber) {
    const ENetListNode& end = channel.incomingReliableCommands.sentinel;
    if (end.previous != &end) {
      last_ = ahead(command_at<ENetIncomingCommand>(end.previous).reliableSequenceNumber, taken_);
    }
  }

  // How many links ENet walks at most until it has found the place of that command, which then waits too;
  // nothing if it is too far ahead.
  std::optional<std::size_t> place(std::uint16_t number) {
    const std::uint16_t distance = ahead(number, taken_);
    if (distance == 0 || distance >= kHalfWay) return 0;  // it was here: acknowledged again, and that is all
    if (distance > CommandWindow::kCommands) return std::nullopt;
    const std::size_t links = last_ > distance ? last_ - distance + 1u : 1u;
    last_ = std::max(last_, distance);
    return links;
  }

 private:
  std::uint16_t taken_;     // the last that was taken in in order
  std::uint16_t last_ = 0;  // of those that wait, ahead of it
};

// The last number that a command of ours on that channel of the connection has; nothing: there are none.
std::optional<std::uint16_t> last_number(const ENetPeer& peer, std::uint8_t channel) {
  if (channel == kConnectionItself) return peer.outgoingReliableSequenceNumber;
  if (channel >= peer.channelCount) return std::nullopt;
  return peer.channels[channel].outgoingReliableSequenceNumber;
}

}  // namespace

std::optional<Refusal> ListWork::refuse(const ENetPeer& peer, std::span<const std::byte> datagram,
                                        double now_s) {
  std::optional<Waiting> waiting;
  std::optional<Refusal> why;
  enet_filter::for_each_command(datagram, [&](const enet_filter::Command& command) {
    using enet_filter::Kind;
    if (why) return;
    if (command.kind == Kind::acknowledge) {
      why = refuse_acknowledgement(peer, command.channel, command.about, now_s);
    }
    if (command.kind != Kind::send_reliable && command.kind != Kind::send_fragment) return;
    if (command.channel >= peer.channelCount) return;
    if (!waiting) waiting.emplace(peer.channels[command.channel]);  // acceptable on one channel only
    const auto links = waiting->place(command.about);
    // A fragment's message is looked for, and if it is new, so is its place.
    const std::size_t times = command.kind == Kind::send_fragment ? 2 : 1;
    if (!links || !spend(times * *links, now_s)) why = Refusal::peer_limit;
  });
  return why;
}

bool ListWork::spend(std::size_t steps, double now_s) {
  if (steps == 0) return true;
  if (!allowance_.take(static_cast<double>(steps), kStepsPerSecond, kStepsAtOnce, now_s)) return false;
  steps_ += steps;
  return true;
}

// Looks for what is acknowledged just as ENet does: first among what is under way, in the order in which it
// was sent - near the front, if all is well -, then among what is to be sent again, up to what never was.
// What cannot be found was acknowledged before, or never sent.
std::optional<Refusal> ListWork::refuse_acknowledgement(const ENetPeer& peer, std::uint8_t channel,
                                                        std::uint16_t sequence, double now_s) {
  auto last = last_number(peer, channel);
  if (!last) return Refusal::never_sent;
  // Paid in portions, so that one who has nothing left costs next to nothing.
  constexpr std::size_t kPortion = 64;
  std::size_t unpaid = 1;
  const auto pays = [&] {
    if (unpaid < kPortion) return true;
    return spend(std::exchange(unpaid, 0), now_s);
  };
  const auto found = [&](const ENetOutgoingCommand& command) {
    return command.reliableSequenceNumber == sequence && command.command.header.channelID == channel;
  };
  const ENetListNode* end = &peer.sentReliableCommands.sentinel;
  for (const ENetListNode* link = end->next; link != end; link = link->next, ++unpaid) {
    if (!pays()) return Refusal::peer_limit;
    if (found(command_at<ENetOutgoingCommand>(link)))
      return spend(unpaid, now_s) ? std::nullopt : std::optional(Refusal::peer_limit);
  }
  for (const ENetList* queue : queues_of(peer)) {
    end = &queue->sentinel;
    for (const ENetListNode* link = end->next; link != end; link = link->next, ++unpaid) {
      if (!pays()) return Refusal::peer_limit;
      const auto& command = command_at<ENetOutgoingCommand>(link);
      if ((command.command.header.command & ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE) == 0) continue;
      if (command.sendAttempts == 0) {
        // The first that was never sent: on its channel, all numbers from there on.
        if (command.command.header.channelID == channel) last = ahead(command.reliableSequenceNumber, 1);
        break;
      }
      if (found(command)) return spend(unpaid, now_s) ? std::nullopt : std::optional(Refusal::peer_limit);
    }
  }
  if (!spend(unpaid, now_s)) return Refusal::peer_limit;
  const std::uint16_t beyond = ahead(sequence, *last);
  if (beyond != 0 && beyond < kHalfWay) return Refusal::never_sent;
  return std::nullopt;
}

}  // namespace reckoner
