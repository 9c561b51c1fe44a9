// SPDX-License-Identifier: MIT
#include "server/src/session/reliable_messages.hpp"

#include <algorithm>
#include <array>

namespace reckoner {
namespace {

constexpr ReliableQueue::Limits kLimits{
    // The limit also keeps the confirmed count unambiguous, because only 16 bits of the count are on the
    // wire.
    .in_flight = {4096, MessageLimit::kUnlimited},
    .game = {1024, 256 * 1024},
    .retained = {8192, 1024 * 1024},
};

// Bytes that ENet, UDP and IPv4 add to a payload (IPv6 adds 20 more), with the payload's share of an
// acknowledgement.
constexpr std::size_t kHeaders = 40;
// The approximate size of a message of the library on the wire, bytes: of ownership, or about a route.
constexpr double kLibraryMessageBytes = 64.0;
// Bytes of headers for each message, if many messages share a payload.
constexpr double kMessageHeaders = 2.0;

// Messages are combined up to this size, bytes, so that most payloads fit into one packet.
constexpr std::size_t kUsualPayload = 1000;

}  // namespace

ReliableMessages::ReliableMessages(ByteBudget& budget, const SpawnQueue& spawns)
    : budget_(budget), spawns_(spawns), queue_(kLimits) {}

void ReliableMessages::send(std::span<const std::byte> message, Transport& transport) {
  std::vector<std::byte> payload;
  add_order_mark(payload);
  payload.insert(payload.end(), message.begin(), message.end());
  queue_.add_sent(message);
  if (!peer_) return;
  transport.send(peer_, Channel::control, payload);
  bytes_sent_ += payload.size() + kHeaders;
}

// Begins a payload: the client processes the messages that follow only when it has the spawns that were
// written before.
void ReliableMessages::add_order_mark(std::vector<std::byte>& payload) {
  if (spawns_.has_all() || marked_ == spawns_.newest_number()) return;
  marked_ = spawns_.newest_number();
  std::array<std::byte, 16> buffer;
  const auto mark = encode(AfterSpawnsMessage{marked_}, buffer);
  queue_.add_sent(mark);
  payload.insert(payload.end(), mark.begin(), mark.end());
}

void ReliableMessages::send_route(const RouteMessage& message, Transport& transport) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  send(encode(message, buffer), transport);
  routes_.push_back(queue_.added_count());
}

bool ReliableMessages::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && queue_.is_confirmed(routes_[route.value - 1]));
}

bool ReliableMessages::send_game(std::span<const std::byte> encoded, bool keeps, Transport& transport) {
  const MessageLimit waiting{outbox_.messages(), outbox_.bytes()};
  if (!queue_.has_room_for_game(encoded.size(), waiting) || (!peer_ && !keeps)) return false;
  outbox_.add(encoded);
  send_waiting(transport);
  return true;
}

void ReliableMessages::send_waiting(Transport& transport) {
  while (!outbox_.empty() && outbox_.room() > 0.0 && budget_.available() > -1.0 * kMaxStateBytes &&
         static_cast<double>(queue_.game_bytes()) < budget_.max_in_flight()) {
    if (!send_payload(transport)) return;
  }
}

void ReliableMessages::send_all(Transport& transport) {
  while (!outbox_.empty() && send_payload(transport)) {
  }
}

// Sends the oldest waiting message, and the following ones if they fit into its payload. Returns false if the
// transport does not take it.
bool ReliableMessages::send_payload(Transport& transport) {
  if (!peer_) return false;
  std::vector<std::byte> payload;
  std::size_t count = 0;
  // If the transport does not take the payload, the mark is still retained.
  add_order_mark(payload);
  const double most = std::min(outbox_.room(), static_cast<double>(kUsualPayload));
  for (const std::vector<std::byte>& message : outbox_.waiting()) {
    if (count > 0 && static_cast<double>(payload.size() + message.size()) > most) break;
    payload.insert(payload.end(), message.begin(), message.end());
    ++count;
  }
  if (!transport.send(peer_, Channel::control, payload)) return false;
  for (const std::vector<std::byte>& message : outbox_.waiting().first(count))
    queue_.add_sent(message, ReliableQueue::Origin::game);
  outbox_.remove(count);
  const std::size_t wire_bytes = payload.size() + kHeaders;
  budget_.charge(outbox_.sent(wire_bytes));
  budget_.send_on_credit(wire_bytes);
  game_bytes_ += wire_bytes;
  bytes_sent_ += wire_bytes;
  return true;
}

std::size_t ReliableMessages::confirm(std::uint32_t count) {
  const std::uint32_t messages = count - queue_.confirmed_count();
  const std::size_t game_messages = queue_.game_messages(), game_bytes = queue_.game_bytes();
  (void)queue_.confirm(count);  // the callers have checked the count
  const auto from_game = static_cast<double>(game_messages - queue_.game_messages());
  const double arrived = (messages - from_game) * kLibraryMessageBytes + from_game * kMessageHeaders +
                         static_cast<double>(game_bytes - queue_.game_bytes());
  return static_cast<std::size_t>(arrived);
}

std::size_t ReliableMessages::resend(Transport& transport) {
  std::vector<std::byte> payload;
  std::size_t sent = 0;
  const auto send_payload = [&] {
    if (!payload.empty()) transport.send(peer_, Channel::control, payload);
    sent += payload.size();
    payload.clear();
  };
  queue_.resend_all();
  for (; const auto message = queue_.next(); queue_.mark_sent()) {
    if (payload.size() + message->size() > kUsualPayload) send_payload();
    payload.insert(payload.end(), message->begin(), message->end());
  }
  send_payload();
  outbox_.restart();
  bytes_sent_ += sent;
  return sent;
}

}  // namespace reckoner
