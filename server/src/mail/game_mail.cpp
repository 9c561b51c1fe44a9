// SPDX-License-Identifier: MIT
#include "server/src/mail/game_mail.hpp"

#include "net/src/messages/message_fault.hpp"
#include "server/src/util/refusal_counts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace reckoner {

CallResult GameMail::send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                          std::optional<double> time_s) {
  Session* session = sessions_.find(client);
  if (session == nullptr) return CallError::unknown_client;
  if (const CallError why = find_message_fault(payload, delivery, time_s); why != CallError::none) return why;
  return send_to(std::span{&session, 1}, payload, delivery, time_s).last_error;
}

Result<std::size_t, CallError> GameMail::broadcast(std::span<Session* const> clients,
                                                   std::span<const std::byte> payload, Delivery delivery,
                                                   std::optional<double> time_s) {
  if (const CallError why = find_message_fault(payload, delivery, time_s); why != CallError::none) return why;
  return send_to(clients, payload, delivery, time_s).clients;
}

// Encodes or copies the message once for all clients, except for an unordered message to clients that may
// lack spawns: it names them.
GameMail::Sent GameMail::send_to(std::span<Session* const> clients, std::span<const std::byte> payload,
                                 Delivery delivery, std::optional<double> time_s) {
  Sent sent;
  const auto count = [&sent](CallResult result) {
    if (!result) sent.last_error = result.error();
    sent.clients += result ? 1 : 0;
    return static_cast<bool>(result);
  };
  if (delivery != Delivery::unreliable) {
    std::vector<std::byte> buffer(payload.size() + 64), own_buffer;
    UnorderedMessage message{{{payload.begin(), payload.end()}, time_s}, std::nullopt};
    const bool is_ordered = delivery == Delivery::reliable;
    const auto for_all = is_ordered ? encode(message.data, buffer) : encode(message, buffer);
    std::span<const std::byte> for_some;  // for clients that lack the spawns up to message.after_spawns
    for (Session* session : clients) {
      auto encoded = for_all;
      if (const auto spawns = session->lacking_spawns(); spawns && !is_ordered) {
        own_buffer.resize(buffer.size());
        if (message.after_spawns != spawns) {
          message.after_spawns = spawns;
          for_some = encode(message, own_buffer);
        }
        encoded = for_some;
      }
      if (!count(session->send_reliable(encoded))) continue;
      // Just after a tick, the next one is far away. One datagram per tick is spent on that.
      const bool goes_now = is_after_tick_ && session->may_send_early(time_.last_tick());
      goes_now ? send_early(*session, time_.present_s()) : with_messages_.push_back(session->id());
    }
    datagrams_.flush(transport_);
    stats_.messages_sent += sent.clients;
  } else {
    const auto shared = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    for (Session* session : clients)
      (void)count(session->send_unreliable(shared, time_s, time_.at(time_.next_tick())));
  }
  stats_.messages_dropped += clients.size() - sent.clients;
  return sent;
}

void GameMail::send_early(double now_s) {
  is_after_tick_ = false;
  for (const ClientId client : with_messages_) {
    Session* session = sessions_.find(client);
    if (session != nullptr) send_early(*session, now_s);
  }
  with_messages_.clear();
  datagrams_.flush(transport_);
}

// Writes the session's messages into datagrams_.
void GameMail::send_early(Session& session, double now_s) {
  session.write_messages(now_s, transport_.max_datagram_bytes(session.peer()), datagrams_, traffic_.share(0));
  stats_ += std::exchange(datagrams_.stats, {});
}

void GameMail::accept_reliable(Session& session, const GameDataMessage& message) {
  if (!deliver_when_allowed(session, message, false)) count_processed(session, message.payload.size());
}

void GameMail::accept_early(Session& session, const GameDataMessage& message) {
  (void)deliver_when_allowed(session, message, true);
}

void GameMail::note_turn(Session& session, std::size_t bytes) {
  if (session.intake().has_postponed()) return session.intake().postpone_turn(bytes);
  count_processed(session, bytes);
}

// Delivers the message as soon as the client's rates allow it. Returns false if it is refused.
bool GameMail::deliver_when_allowed(Session& session, const GameDataMessage& message, bool early) {
  const bool waited = session.intake().has_postponed();
  if (!session.intake().postpone(message.payload, message.time_s, early)) {
    refuse();
    return false;
  }
  deliver_allowed(session);
  if (!waited && session.intake().has_postponed()) waiting_.push_back(session.id());
  return true;
}

void GameMail::accept_unreliable(Session& session, std::span<const std::byte> payload,
                                 std::optional<double> time_s) {
  session.intake().refill(time_.next_tick(), time_.tick_s());
  if (!session.intake().allows_unreliable(payload.size())) return refuse();
  deliver(session, payload, time_s);
}

void GameMail::deliver_waiting() {
  std::erase_if(waiting_, [&](ClientId client) {
    Session* session = sessions_.find(client);
    if (session == nullptr) return true;
    deliver_allowed(*session);
    return !session->intake().has_postponed();
  });
}

void GameMail::deliver_last(Session& session) {
  while (const auto message = session.intake().next_at_the_end()) {
    if (!message->payload.empty()) deliver(session, message->payload, message->time_s);
  }
}

// Delivers the accepted reliable messages that the client's rates allow now.
void GameMail::deliver_allowed(Session& session) {
  session.intake().refill(time_.next_tick(), time_.tick_s());
  while (const auto message = session.intake().next()) {
    if (!message->payload.empty()) deliver(session, message->payload, message->time_s);
    for (std::uint32_t turn = 1; turn < message->turns; ++turn)
      count_processed(session, 0);
    if (message->turns > 0) count_processed(session, message->counted);
  }
}

// The game may have too many messages to poll already; the message is then refused.
void GameMail::deliver(const Session& session, std::span<const std::byte> payload,
                       std::optional<double> time_s) {
  if (!inbox_.add(session.id(), payload, time_s, false)) return refuse();
  ++stats_.messages_received;
}

void GameMail::count_processed(Session& session, std::size_t payload_bytes) {
  MessageCounts& counts = session.counts();
  const bool was_due = counts.is_report_due();
  counts.note_processed(payload_bytes);
  if (!was_due && counts.is_report_due()) unconfirmed_.push_back(session.id());
}

void GameMail::refuse() {
  ++stats_.messages_refused;
  count_refused(stats_, Refusal::too_many);
}

// The server has room for all messages that the client may send after a confirmation.
void GameMail::confirm_delivered() {
  std::erase_if(unconfirmed_, [&](ClientId client) {
    Session* session = sessions_.find(client);
    if (session == nullptr || !session->peer() || !session->counts().is_report_due()) return true;
    constexpr MessageLimit kWindow = MessageCounts::kClientWindow;
    if (!inbox_.has_room(client, kWindow.messages, kWindow.bytes)) return false;
    session->report_processed();
    return true;
  });
}

}  // namespace reckoner
