// SPDX-License-Identifier: MIT
#include "client/src/connection/field_reader.hpp"

#include <cstdint>

namespace reckoner {

std::optional<Refusal> read_field_section(BitReader& reader, const DecodeContext& known,
                                          DecodedDatagram& out) {
  std::int64_t previous = -1;
  while (const auto slot = read_field_slot(reader, previous)) {
    previous = *slot;
    const auto archetype = known.entities.archetype_of(*slot);
    if (!archetype) return Refusal::unknown_entity;
    std::vector<FieldChange>& changes = out.scratch.changes;
    changes.clear();
    read_changes(reader, known.formats.fields(*archetype), changes);
    if (reader.failed()) return Refusal::malformed;
    for (const FieldChange& change : changes) {
      if (change.age > out.tick) return Refusal::malformed;
      const double changed_s = known.clock.time_of(out.tick - change.age);
      out.fields.push_back({*slot, change.field, changed_s, change.value});
    }
  }
  // An empty section is malformed.
  return previous >= 0 && !reader.failed() ? std::nullopt : std::optional{Refusal::malformed};
}

}  // namespace reckoner
