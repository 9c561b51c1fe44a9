// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_inbox.hpp"
#include "net/src/link/message_outbox.hpp"
#include "net/src/link/reliable_log.hpp"
#include "net/src/messages/message_codec.hpp"

#include <limits>
#include <optional>
#include <span>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// A client's game messages: those that wait to be sent, those that were and may have to be again, and those
/// that wait for the game.
class ClientMail {
 public:
  /// As Client::send() has it; what is unreliable goes with the next datagram. `transport`: null while there
  /// is no connection.
  bool send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
            double local_s, PeerId server, Transport* transport, ClientStats& stats);

  /// A session stands, to whose server what is sent reliably goes. `comes_back`: the server takes clients
  /// back, so that messages wait while there is no connection.
  void begin(bool comes_back) { comes_back_ = comes_back; }
  /// The server has taken in so many reliable messages of this session. False if that cannot be.
  [[nodiscard]] bool confirm(std::uint32_t taken) { return kept_.confirm(taken); }
  /// Sends what waits, as far as MessageWindow lets it.
  void go_on(PeerId server, Transport& transport);
  /// The session goes on over another connection: what the server does not have is sent again.
  void send_again(PeerId server, Transport& transport);
  /// The client leaves: all that waits goes now or never.
  void let_all_go(PeerId server, Transport& transport);
  /// Another session begins: what the last one's server did not confirm is gone, and what it said is for the
  /// game at once.
  void restart(ClientStats& stats);

  /// What found no place for this long is dropped.
  void expire(double local_s, ClientStats& stats) {
    constexpr double kPatienceS = 0.1;
    stats.messages_dropped += outbox_.expire(local_s - kPatienceS);
  }
  [[nodiscard]] MessageOutbox& outbox() { return outbox_; }

  /// A message of the server arrived.
  void receive(std::span<const std::byte> payload, std::optional<double> time_s, ClientStats& stats) {
    const bool kept = inbox_.add({}, payload, time_s, true);
    ++(kept ? stats.messages_received : stats.messages_refused);
  }
  void receive(const MessageBatch& batch, ClientStats& stats) {
    for (const MessageBatch::Item& item : batch.items)
      receive(batch.payload(item), item.time_s, stats);
  }

  /// What is shown has come to `shown_s`.
  void release(double shown_s) { inbox_.release(shown_s); }
  [[nodiscard]] std::optional<GameMessage> poll() { return inbox_.poll(); }

 private:
  // Those that wait at most: more than the server lets be on their way at a time, so that none is lost to a
  // game that polls every frame.
  static constexpr MessageInbox::Limits kInboxLimits{4096, 1024 * 1024};

  MessageInbox inbox_{kInboxLimits};
  MessageOutbox outbox_;
  ReliableLog kept_;  // until the server says that it has it
  bool comes_back_ = false;
};

}  // namespace reckoner
