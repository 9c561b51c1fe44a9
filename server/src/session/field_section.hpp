// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/publish/field_updates.hpp"
#include "server/src/session/sections.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/world/slot_set.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The section of changed fields: those of the entities that the client follows.
class FieldSection {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_fields;

  /// `subscriptions` must outlive this object.
  explicit FieldSection(const Subscriptions& subscriptions) : subscriptions_(subscriptions) {}

  [[nodiscard]] FieldUpdates& updates() { return updates_; }
  [[nodiscard]] const FieldUpdates& updates() const { return updates_; }

  /// Notes what changed in this tick of entities whose spawn was written. A first spawn contains it.
  void note_changes(const FieldTable& fields, Tick tick);

  // For Sections.
  void begin(const TickInputs& inputs, ServerStats&) { updates_.requeue_lost(inputs.fields); }
  [[nodiscard]] Urgency urgency(Tick) const { return updates_.any() ? Urgency::waits : Urgency::none; }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place) {
    const TickInputs& inputs = place.inputs;
    const std::size_t before = writer.bits_written();
    const auto written =
        updates_.write(writer, most_bits, place.sequence, inputs.tick, inputs.fields, &place.traffic);
    place.stats.field_changes_sent += written.changes;
    place.stats.field_repairs_sent += written.repairs;
    place.stats.field_bits_sent += writer.bits_written() - before;
    return written.entities > 0;
  }
  void settle(const Settled& datagram) { updates_.settle(datagram.sequence, datagram.acked); }

 private:
  const Subscriptions& subscriptions_;
  FieldUpdates updates_;
};

inline void FieldSection::note_changes(const FieldTable& fields, Tick tick) {
  const auto changed = fields.changes().words();
  const auto followed = subscriptions_.slots().words();
  for (std::size_t w = 0; w < std::min(changed.size(), followed.size()); ++w) {
    SlotSet::for_each_in(changed[w] & followed[w], w, [&](std::uint32_t slot) {
      const Subscription& s = *subscriptions_.find(slot);
      const FieldTable::Row& row = fields.row(slot);
      if (s.spawn_number != 0 && s.id == row.id) updates_.changed(s.id, row.changed_now, tick, s.confirmed);
    });
  }
}

}  // namespace reckoner
