// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_counts.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/link/reliable_sender.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/client/client.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The messages of a client: those that wait to be sent or to arrive, and received ones that wait for the
/// game. The object outlives connections, so that a resumed session loses no reliable message.
class ClientMessages {
 public:
  /// Implements Client::send(). The messages leave with the next datagrams (Client::flush()). `connected` is
  /// false while there is no connection.
  [[nodiscard]] CallResult send(std::span<const std::byte> payload, Delivery delivery,
                                std::optional<double> time_s, double local_s, bool connected,
                                ClientStats& stats);
  /// Adds a reliable message of the library.
  void send(const PlayoutMessage& message);

  /// A session has begun. `resumable`: its server resumes sessions, so that reliable messages may wait while
  /// there is no connection.
  void begin(bool resumable) { resumable_ = resumable; }
  /// The session resumes over another connection. The server has received the first `received` reliable
  /// messages, and processed the first `processed`. Returns false and changes nothing if that is impossible.
  [[nodiscard]] bool resume(std::uint32_t received, std::uint32_t processed);
  /// The server has processed the first `count` reliable messages, so more may be sent. Returns false if that
  /// is impossible.
  [[nodiscard]] bool confirm(std::uint32_t count);
  /// Call this when another session begins. Drops the messages that the server of the last session did not
  /// confirm. Releases all messages from that server to the game.
  void restart(ClientStats& stats);

  /// Counts the reliable messages of both directions.
  [[nodiscard]] MessageCounts& counts() { return counts_; }
  [[nodiscard]] const MessageCounts& counts() const { return counts_; }
  /// The reliable messages that the server may lack.
  [[nodiscard]] ReliableSender& reliable() { return reliable_; }
  [[nodiscard]] const ReliableSender& reliable() const { return reliable_; }
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
  // This is more than the server ever has in flight, so a game that polls every picture loses no message.
  static constexpr MessageInbox::Limits kInboxLimits{4096, 1024 * 1024};
  // Enough for a minute without a connection.
  static constexpr MessageCounts::Limits kLimits{.window = MessageCounts::kClientWindow,
                                                 .game = {8192, 4 * 1024 * 1024}};

  void add(std::span<const std::byte> encoded, MessageCounts::Origin origin);

  MessageInbox inbox_{kInboxLimits};
  MessageOutbox unreliable_;
  MessageCounts counts_{kLimits};
  ReliableSender reliable_;
  bool resumable_ = false;
};

}  // namespace reckoner
