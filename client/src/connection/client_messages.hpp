// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_queues.hpp"
#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/messages.hpp"

#include <optional>
#include <span>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The game messages of a client: messages that wait to be sent, reliable messages that are not confirmed,
/// and received messages that wait for the game. The object outlives connections, so that a resumed session
/// loses no reliable message.
class ClientMessages {
 public:
  /// Implements Client::send(). Unreliable messages are sent with the next datagram (Client::flush()).
  /// `transport` is null while there is no connection.
  bool send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
            double local_s, PeerId server, Transport* transport, ClientStats& stats);

  /// A session has begun. `resumable`: its server resumes sessions, so that reliable messages may wait while
  /// there is no connection.
  void begin(bool resumable) { resumable_ = resumable; }
  /// Sends waiting reliable messages, as far as ReliableQueue::kClientWindow allows.
  void send_waiting(PeerId server, Transport& transport);
  /// Sends all waiting reliable messages, because the client leaves.
  void send_all_waiting(PeerId server, Transport& transport);
  /// The session resumes over another connection: sends unconfirmed reliable messages again.
  void resend(PeerId server, Transport& transport);
  /// Call this when another session begins. Drops the messages that the server of the last session did not
  /// confirm. Releases all messages from that server to the game.
  void restart(ClientStats& stats);

  /// The reliable messages of both directions. The client counts the server's messages here.
  [[nodiscard]] ReliableQueue& reliable() { return reliable_; }
  /// Unreliable messages that wait for a datagram.
  [[nodiscard]] MessageOutbox& unreliable() { return unreliable_; }
  /// Drops unreliable messages that have waited too long. Call it after the waiting messages were offered to
  /// a datagram.
  void expire(double local_s, ClientStats& stats) {
    constexpr double kMaxWaitS = 0.1;
    stats.messages_dropped += unreliable_.expire(local_s - kMaxWaitS);
  }

  /// Queues a message of the server for the game.
  void deliver(std::span<const std::byte> payload, std::optional<double> time_s, ClientStats& stats) {
    const bool queued = inbox_.add({}, payload, time_s, true);
    ++(queued ? stats.messages_received : stats.messages_refused);
  }
  void deliver(const MessageBatch& batch, ClientStats& stats) {
    for (const MessageBatch::Item& item : batch.items)
      deliver(batch.payload(item), item.time_s, stats);
  }
  /// Releases messages with a time stamp up to `shown_s`, the instant that is shown.
  void release(double shown_s) { inbox_.release(shown_s); }
  [[nodiscard]] std::optional<GameMessage> poll() { return inbox_.poll(); }

 private:
  // This is more than the server ever has in flight, so a game that polls every frame loses no message.
  static constexpr MessageInbox::Limits kInboxLimits{4096, 1024 * 1024};

  [[nodiscard]] static ReliableQueue make_reliable();

  MessageInbox inbox_{kInboxLimits};
  MessageOutbox unreliable_;
  ReliableQueue reliable_{make_reliable()};
  bool resumable_ = false;
};

}  // namespace reckoner
