// SPDX-License-Identifier: MIT
#include "client/src/connection/client_messages.hpp"

#include "net/src/messages/message_fault.hpp"

#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace reckoner {

CallResult ClientMessages::send(std::span<const std::byte> payload, Delivery delivery,
                                std::optional<double> time_s, double local_s, bool connected,
                                ClientStats& stats) {
  if (const CallError why = find_message_fault(payload, delivery, time_s); why != CallError::none) return why;
  std::vector<std::byte> copy{payload.begin(), payload.end()};
  bool accepted = false;
  if (delivery == Delivery::unreliable) {
    accepted =
        unreliable_.add(std::make_shared<const std::vector<std::byte>>(std::move(copy)), time_s, local_s);
  } else {
    std::vector<std::byte> buffer(payload.size() + 64);
    GameDataMessage message{std::move(copy), time_s};
    const auto encoded = delivery == Delivery::reliable
                             ? encode(std::move(message), buffer)
                             : encode(UnorderedMessage{std::move(message), {}}, buffer);
    accepted = (connected || resumable_) && counts_.has_room_for_game(encoded.size());
    if (accepted) add(encoded, MessageCounts::Origin::game);
    stats.messages_sent += accepted ? 1 : 0;
  }
  stats.messages_dropped += accepted ? 0 : 1;
  return accepted ? CallError::none : CallError::queue_full;
}

void ClientMessages::send(const PlayoutMessage& message) {
  std::array<std::byte, 64> buffer;
  add(encode(message, buffer), MessageCounts::Origin::library);
}

void ClientMessages::add(std::span<const std::byte> encoded, MessageCounts::Origin origin) {
  counts_.add(encoded.size(), origin);
  (void)reliable_.add(encoded);
  reliable_.limit_to(counts_.sendable_count());
}

bool ClientMessages::resume(std::uint32_t received, std::uint32_t processed) {
  if (!reliable_.can_restart(received) || !confirm(processed)) return false;
  reliable_.restart(received);
  reliable_.limit_to(counts_.sendable_count());
  return true;
}

bool ClientMessages::confirm(std::uint32_t count) {
  if (!counts_.confirm(count)) return false;
  reliable_.limit_to(counts_.sendable_count());
  return true;
}

void ClientMessages::restart(ClientStats& stats) {
  stats.messages_abandoned += counts_.game().messages;
  counts_ = MessageCounts{kLimits};
  reliable_ = {};
  resumable_ = false;
  unreliable_ = {};
  inbox_.release(std::numeric_limits<double>::infinity());
}

}  // namespace reckoner
