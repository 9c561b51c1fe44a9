// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_queues.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/util/server_time.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The game messages between the game and its clients.
///
/// A message of a client is *accepted* when it arrives, and *delivered* when the game may poll it, as soon as
/// the client's rates allow this (MessageIntake). Reliable messages are *confirmed* to their client once the
/// game has polled enough of them. So a client never sends more than the server has room for.
class GameMail {
 public:
  /// All arguments must outlive this object.
  GameMail(const ServerTime& time, const SessionTable& sessions, Transport& transport, ServerStats& stats,
           TrafficCounter& traffic)
      : time_(time), sessions_(sessions), transport_(transport), stats_(stats), traffic_(traffic) {}

  // To clients.

  /// What Server::send() does.
  CallResult send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                  std::optional<double> time_s);
  /// Sends a message to these clients. Returns to how many it was sent, or why it is not a valid message.
  Result<std::size_t, CallError> broadcast(std::span<Session* const> clients,
                                           std::span<const std::byte> payload, Delivery delivery,
                                           std::optional<double> time_s);

  /// Sends the reliable messages that wait for a tick, in datagrams of their own.
  void send_early(double now_s);
  /// The datagrams of a tick were sent, with all messages up to now.
  void note_tick() {
    with_messages_.clear();
    is_after_tick_ = true;
  }

  // From clients.

  void accept_reliable(Session& session, const GameDataMessage& message);
  /// An unordered message before its turn. Call note_turn() when its turn comes.
  void accept_early(Session& session, const GameDataMessage& message);
  /// The turn of an early message of `bytes` bytes. It is processed now, or when it is delivered.
  void note_turn(Session& session, std::size_t bytes);
  void accept_unreliable(Session& session, std::span<const std::byte> payload, std::optional<double> time_s);
  /// A reliable message was delivered, applied or refused: the client may send another one in its place.
  void count_processed(Session& session, std::size_t payload_bytes);
  /// The oldest message that was delivered; nullopt if there is none. The payload is valid until the next
  /// call.
  [[nodiscard]] std::optional<GameMessage> poll() { return inbox_.poll(); }

  /// Call it once a tick: delivers the accepted reliable messages that the clients' rates allow now.
  void deliver_waiting();
  /// Delivers all accepted messages of a session that is about to close, whatever the rates are.
  void deliver_last(Session& session);

  /// Call it once a tick: confirms reliable messages to the clients for whose further messages the server has
  /// room now.
  void confirm_delivered();

 private:
  struct Sent {
    std::size_t clients = 0;                 // number of clients to which the message was sent
    CallError last_error = CallError::none;  // why it was not sent to another client
  };
  Sent send_to(std::span<Session* const> clients, std::span<const std::byte> payload, Delivery delivery,
               std::optional<double> time_s);
  void deliver(const Session& session, std::span<const std::byte> payload, std::optional<double> time_s);
  bool deliver_when_allowed(Session& session, const GameDataMessage& message, bool early);
  void deliver_allowed(Session& session);
  void send_early(Session& session, double now_s);
  void refuse();

  const ServerTime& time_;
  const SessionTable& sessions_;
  Transport& transport_;
  ServerStats& stats_;
  TrafficCounter& traffic_;

  MessageInbox inbox_{{}};
  std::vector<ClientId> waiting_;        // clients with accepted reliable messages beyond their rates
  std::vector<ClientId> unconfirmed_;    // clients to which delivered messages must be confirmed
  std::vector<ClientId> with_messages_;  // clients with messages since the last tick, once for each message
  bool is_after_tick_ = false;           // send_early() was not called since the last tick
  DatagramBuffer datagrams_;             // scratch
};

}  // namespace reckoner
