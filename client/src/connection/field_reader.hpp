// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "client/src/connection/session_clock.hpp"
#include "client/src/connection/session_formats.hpp"
#include "client/src/world/entity_store.hpp"
#include "net/src/codec/field_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Reads the section of changed user fields.
class FieldReader {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_fields;

  /// All must outlive the reader.
  FieldReader(const SessionFormats& formats, const SessionClock& clock, const EntityStore& entities)
      : formats_(formats), clock_(clock), entities_(entities) {}

  // For SectionReaders.
  static void clear(DecodedDatagram& datagram) { datagram.fields.clear(); }
  [[nodiscard]] std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram);

 private:
  const SessionFormats& formats_;
  const SessionClock& clock_;
  const EntityStore& entities_;
  std::vector<FieldChange> changes_;  // scratch
};

inline std::optional<Refusal> FieldReader::read(BitReader& reader, DecodedDatagram& datagram) {
  std::int64_t previous = -1;
  while (const auto slot = read_field_slot(reader, previous)) {
    previous = *slot;
    const auto archetype = entities_.archetype_of(*slot);
    if (!archetype) return Refusal::unknown_entity;
    changes_.clear();
    read_changes(reader, formats_.fields(*archetype), changes_);
    if (reader.failed()) return Refusal::malformed;
    for (const FieldChange& change : changes_) {
      if (change.age > datagram.tick) return Refusal::malformed;
      const double changed_s = clock_.time_of(datagram.tick - change.age);
      datagram.fields.push_back({*slot, change.field, changed_s, change.value});
    }
  }
  // An empty section is malformed.
  return previous >= 0 && !reader.failed() ? std::nullopt : std::optional{Refusal::malformed};
}

}  // namespace reckoner
