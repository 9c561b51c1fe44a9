// SPDX-License-Identifier: MIT
#include "client/src/connection/client_messages.hpp"

#include "net/src/messages/messages.hpp"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace reckoner {
namespace {

// Enough for a minute without a connection.
constexpr MessageLimit kMaxUnconfirmed{8192, 4 * 1024 * 1024};

}  // namespace

ReliableQueue ClientMessages::make_reliable() {
  ReliableQueue queue{{ReliableQueue::kClientWindow, kMaxUnconfirmed, kMaxUnconfirmed}};
  queue.retain();
  return queue;
}

bool ClientMessages::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
                          double local_s, PeerId server, Transport* transport, ClientStats& stats) {
  if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !is_valid_stamp(*time_s)))
    return false;
  std::vector<std::byte> copy{payload.begin(), payload.end()};
  bool accepted = false;
  if (delivery == Delivery::unreliable) {
    accepted =
        unreliable_.add(std::make_shared<const std::vector<std::byte>>(std::move(copy)), time_s, local_s);
  } else {
    std::vector<std::byte> buffer(payload.size() + 64);
    const auto encoded = encode(GameDataMessage{std::move(copy), time_s}, buffer);
    accepted = (transport != nullptr || resumable_) && reliable_.has_room_for_game(encoded.size());
    if (accepted) reliable_.add_waiting(encoded);
    if (transport != nullptr) send_waiting(server, *transport);
    stats.messages_sent += accepted ? 1 : 0;
  }
  stats.messages_dropped += accepted ? 0 : 1;
  return accepted;
}

void ClientMessages::send_waiting(PeerId server, Transport& transport) {
  while (const auto message = reliable_.next()) {
    const bool fits = reliable_.has_room_in_flight(message->size());
    if (!fits || !transport.send(server, Channel::control, *message)) return;
    reliable_.mark_sent();
  }
}

void ClientMessages::send_all_waiting(PeerId server, Transport& transport) {
  for (; const auto message = reliable_.next(); reliable_.mark_sent()) {
    if (!transport.send(server, Channel::control, *message)) return;
  }
}

void ClientMessages::resend(PeerId server, Transport& transport) {
  reliable_.resend_all();
  send_waiting(server, transport);
}

void ClientMessages::restart(ClientStats& stats) {
  stats.messages_abandoned += reliable_.unconfirmed_count();
  reliable_ = make_reliable();
  resumable_ = false;
  unreliable_ = {};
  inbox_.release(std::numeric_limits<double>::infinity());
}

}  // namespace reckoner
