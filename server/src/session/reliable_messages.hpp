// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/reliable_queue.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/reliable_outbox.hpp"
#include "server/src/session/spawn_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The reliable messages of one session: those of the library are sent at once, those of the game as far as
/// their share of the byte budget allows. Before a message whose predecessors include spawns that the client
/// may lack, a mark tells the client to wait for them (AfterSpawnsMessage).
///
/// What is sent goes to the peer that set_peer() named last. Without one, messages are sent when the session
/// resumes.
class ReliableMessages {
 public:
  /// Both must outlive this object.
  ReliableMessages(ByteBudget& budget, const SpawnQueue& spawns);

  /// The connection of the client; null: there is none.
  void set_peer(PeerId peer) { peer_ = peer; }

  /// Numbers and counts the messages of both directions.
  [[nodiscard]] ReliableQueue& queue() { return queue_; }
  [[nodiscard]] const ReliableQueue& queue() const { return queue_; }
  /// The game messages that wait for the byte budget.
  [[nodiscard]] ReliableOutbox& outbox() { return outbox_; }
  [[nodiscard]] const ReliableOutbox& outbox() const { return outbox_; }

  /// Sends a message of the library in a payload of its own.
  void send(std::span<const std::byte> message, Transport& transport);
  /// Sends the next route.
  void send_route(const RouteMessage& message, Transport& transport);
  /// True if the client can decode motions on this route.
  [[nodiscard]] bool knows_route(RouteId route) const;

  /// Sends a game message now or as soon as the byte budget allows it. `keeps`: the session can resume, so
  /// that a message without a connection is not lost. Returns false and drops the message if too many are
  /// unconfirmed or waiting.
  [[nodiscard]] bool send_game(std::span<const std::byte> encoded, bool keeps, Transport& transport);
  /// Sends waiting game messages, as many as their share of the byte budget allows.
  void send_waiting(Transport& transport);
  /// Sends all waiting game messages now, because the session ends.
  void send_all(Transport& transport);

  /// The client has received `count` messages, a possible count. Returns the approximate number of bytes that
  /// arrived.
  std::size_t confirm(std::uint32_t count);
  /// The client has another connection: sends all unconfirmed messages again. Returns their bytes.
  std::size_t resend(Transport& transport);

  /// Bytes of game messages that were sent since the last call.
  [[nodiscard]] std::size_t take_game_bytes() { return std::exchange(game_bytes_, 0); }
  /// Bytes of all messages on the wire, with headers.
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  void add_order_mark(std::vector<std::byte>& payload);
  bool send_payload(Transport& transport);

  ByteBudget& budget_;
  const SpawnQueue& spawns_;
  PeerId peer_;
  ReliableOutbox outbox_;
  ReliableQueue queue_;
  std::vector<std::uint32_t> routes_;  // index: route; value: number of the message that contained it
  std::uint32_t marked_ = 0;           // the spawn in the newest AfterSpawnsMessage
  std::size_t game_bytes_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace reckoner
