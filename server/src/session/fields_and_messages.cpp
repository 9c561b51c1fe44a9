// SPDX-License-Identifier: MIT
#include "server/src/session/fields_and_messages.hpp"

#include <algorithm>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

constexpr double kShare = 0.5;  // of the byte budget, at most

// The share saves up for so many ticks at most, or for the largest datagram.
constexpr double kDepthTicks = 8.0;

}  // namespace

void FieldsAndMessages::begin_tick(double budget_bytes, double oldest_s, const FieldTable& table,
                                   ServerStats& stats) {
  fields_.requeue_lost(table);
  const double share = kShare * budget_bytes;
  bytes_ = std::min(bytes_ + share, std::max(kDepthTicks * share, 1.0 * kMaxStateBytes));
  stats.messages_dropped += outbox_.expire(oldest_s);
}

FieldsAndMessages::Sections FieldsAndMessages::write(BitWriter& writer, std::size_t most_bits,
                                                     Sequence sequence, Tick now, const FieldTable& table,
                                                     ServerStats& stats) {
  Sections sections;
  if (!any()) return sections;
  const std::size_t begin = writer.bits_written();
  if (fields_.any()) {
    const FieldUpdates::Written written = fields_.write(writer, most_bits, sequence, now, table);
    sections.fields = written.entities > 0;
    stats.field_changes_sent += written.changes;
    stats.field_repairs_sent += written.repairs;
    stats.field_bits_sent += writer.bits_written() - begin;
  }
  const std::size_t messages =
      outbox_.empty() ? 0 : outbox_.write(writer, most_bits - (writer.bits_written() - begin));
  sections.messages = messages > 0;
  stats.messages_sent += messages;
  bytes_ -= static_cast<double>(writer.bits_written() - begin) / 8.0;
  return sections;
}

}  // namespace reckoner
