// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/search_cost_limit.hpp"

#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reckoner {
namespace {

using enet_protocol::kConnectionItself;

constexpr std::uint16_t kHalfWay = 0x8000;  // sequence numbers wrap: a distance from this on means behind

// Distance from `of` forward to `number`, modulo 2^16.
std::uint16_t ahead(std::uint16_t number, std::uint16_t of) {
  return static_cast<std::uint16_t>(number - of);
}

// The commands that wait on a channel, in order. ENet searches for a command's position from the end.
class Waiting {
 public:
  explicit Waiting(const ENetChannel& channel) : taken_(channel.incomingReliableSequenceNumber) {
    const ENetListNode& end = channel.incomingReliableCommands.sentinel;
    if (end.previous != &end) {
      last_ = ahead(command_at<ENetIncomingCommand>(end.previous).reliableSequenceNumber, taken_);
    }
  }

  // Adds a command. Returns the largest number of links that ENet may walk to find its position, or nullopt
  // if it is too far ahead.
  std::optional<std::size_t> place(std::uint16_t number) {
    const std::uint16_t distance = ahead(number, taken_);
    if (distance == 0 || distance >= kHalfWay) return 0;  // a repetition: ENet only acknowledges it again
    if (distance > CommandWindow::kCommands) return std::nullopt;
    const std::size_t links = last_ > distance ? last_ - distance + 1u : 1u;
    last_ = std::max(last_, distance);
    return links;
  }

 private:
  std::uint16_t taken_;     // the last number that arrived in order
  std::uint16_t last_ = 0;  // distance from taken_ to the last waiting command
};

// The last sequence number that this end has used on a channel, or nullopt if the channel does not exist.
std::optional<std::uint16_t> last_number(const ENetPeer& peer, std::uint8_t channel) {
  if (channel == kConnectionItself) return peer.outgoingReliableSequenceNumber;
  if (channel >= peer.channelCount) return std::nullopt;
  return peer.channels[channel].outgoingReliableSequenceNumber;
}

}  // namespace

std::optional<Refusal> SearchCostLimit::refuse(const ENetPeer& peer, std::span<const std::byte> datagram,
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
    if (!waiting) waiting.emplace(peer.channels[command.channel]);  // acceptable() allows one channel only
    const auto links = waiting->place(command.about);
    // For a fragment, ENet first searches for its message, and for the position too if the message is new.
    const std::size_t times = command.kind == Kind::send_fragment ? 2 : 1;
    if (!links || !spend(times * *links, now_s)) why = Refusal::peer_limit;
  });
  return why;
}

bool SearchCostLimit::spend(std::size_t steps, double now_s) {
  if (steps == 0) return true;
  if (!allowance_.spend(static_cast<double>(steps), kStepsPerSecond, kStepsAtOnce, now_s)) return false;
  steps_ += steps;
  return true;
}

// Searches for the acknowledged command just as ENet does. The commands in flight come first, in the order of
// sending; normally the command is near the front. Then come the commands that wait for a resend, up to the
// first one that was never sent. A command that is not found was acknowledged before, or was never sent.
std::optional<Refusal> SearchCostLimit::refuse_acknowledgement(const ENetPeer& peer, std::uint8_t channel,
                                                               std::uint16_t sequence, double now_s) {
  auto last = last_number(peer, channel);
  if (!last) return Refusal::never_sent;
  // Charges in portions, so that a peer without any allowance left costs almost nothing.
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
        // The first command that was never sent. Later numbers on its channel were not sent either.
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
