// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_queues.hpp"
#include "server/src/session/sections.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace reckoner {

/// The section of unreliable game messages. A message is sent in one of two ticks, or dropped.
class MessageSection {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_messages;

  /// Adds a message; false if too many wait.
  [[nodiscard]] bool add(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
    return outbox_.add(std::move(payload), time_s, now_s);
  }

  /// As MessageOutbox::datagram_bytes().
  [[nodiscard]] std::size_t datagram_bytes(std::size_t path_bytes) const {
    return outbox_.datagram_bytes(path_bytes);
  }

  // For Sections.
  void begin(const TickInputs& inputs, ServerStats& stats) {
    constexpr double kMaxAgeTicks = 1.5;  // the half tick allows for rounding
    stats.messages_dropped += outbox_.expire(inputs.tick_time_s - kMaxAgeTicks / inputs.tick_rate_hz);
  }
  [[nodiscard]] Urgency urgency(Tick) const { return outbox_.empty() ? Urgency::none : Urgency::now; }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place) {
    const std::size_t before = writer.bits_written();
    const std::size_t messages = outbox_.write(writer, most_bits);
    place.stats.messages_sent += messages;
    if (messages > 0) place.traffic.other(SentContent::message, messages, writer.bits_written() - before);
    return messages > 0;
  }

 private:
  MessageOutbox outbox_;
};

}  // namespace reckoner
