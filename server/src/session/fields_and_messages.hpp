// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_outbox.hpp"
#include "net/src/messages/sequence.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/publish/field_updates.hpp"
#include "server/src/world/field_table.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// What one client's datagrams carry beside motions: changed fields and unreliable messages. They get at most
/// half of the client's byte budget, so that neither a talkative game nor a field that changes all the time
/// keeps motions away.
class FieldsAndMessages {
 public:
  [[nodiscard]] FieldUpdates& fields() { return fields_; }
  [[nodiscard]] const FieldUpdates& fields() const { return fields_; }

  /// A message for the next datagrams. False if too many wait already.
  bool add(MessageOutbox::Payload payload, std::optional<double> time_s, double now_s) {
    return outbox_.add(std::move(payload), time_s, now_s);
  }

  /// A tick begins, which may cost this client `budget_bytes` in all; messages added before `oldest_s` are
  /// dropped.
  void begin_tick(double budget_bytes, double oldest_s, const FieldTable& table, ServerStats& stats);

  /// A datagram was sent for their sake alone: they pay for its head, too.
  void pay(std::size_t bytes) { bytes_ -= static_cast<double>(bytes); }

  /// True if there is something to send, and bytes to send it with.
  [[nodiscard]] bool any() const { return (fields_.any() || !outbox_.empty()) && bytes_ > 0.0; }

  /// The same, of what cannot wait.
  [[nodiscard]] bool urgent() const { return !outbox_.empty() && bytes_ > 0.0; }

  struct Sections {
    bool fields = false;
    bool messages = false;
  };

  /// Writes what fits into `most_bits` for the datagram `sequence` of tick `now`.
  Sections write(BitWriter& writer, std::size_t most_bits, Sequence sequence, Tick now,
                 const FieldTable& table, ServerStats& stats);

 private:
  FieldUpdates fields_;
  MessageOutbox outbox_;
  double bytes_ = 0.0;  // that the budget allows now
};

}  // namespace reckoner
