// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/message_codec.hpp>
#include <reckoner/net/message_inbox.hpp>
#include <reckoner/net/message_outbox.hpp>
#include <reckoner/net/messages.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// A client's game messages: those that wait to be sent, and those that wait for the game.
class ClientMail {
 public:
  /// As Client::send() has it; what is unreliable goes with the next datagram.
  bool send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
            double local_s, PeerId server, Transport& transport, ClientStats& stats) {
    if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !can_stamp(*time_s))) {
      return false;
    }
    std::vector<std::byte> copy{payload.begin(), payload.end()};
    bool taken = false;
    if (delivery == Delivery::reliable) {
      std::vector<std::byte> buffer(payload.size() + 64);
      taken =
          transport.send(server, Channel::control, encode(GameDataMessage{std::move(copy), time_s}, buffer));
      stats.messages_sent += taken ? 1 : 0;
    } else {
      taken = outbox_.add(std::make_shared<const std::vector<std::byte>>(std::move(copy)), time_s, local_s);
    }
    stats.messages_dropped += taken ? 0 : 1;
    return taken;
  }

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
};

}  // namespace reckoner
