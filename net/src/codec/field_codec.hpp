// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The fields section of a state datagram: for every entity, in order of slot, a set bit, the gap to the slot
// before, and its changes; a clear bit after the last. Changes are told in groups of the same tick: the
// tick's age, which fields, their values.

/// A value that a field took.
struct FieldChange {
  std::uint8_t field = 0;  ///< its number in Archetype::fields
  std::uint32_t age = 0;   ///< ticks from the change to the datagram's tick
  FieldValue value;        ///< what it became
};

/// One value. It must be as quantise() makes it.
RECKONER_NET_API void write_value(BitWriter& writer, const FieldSpec& field, const FieldValue& value);
/// Whatever is wrong fails the reader.
[[nodiscard]] RECKONER_NET_API FieldValue read_value(BitReader& reader, const FieldSpec& field);

/// Writes the set bit and the slot of an entity. `previous_slot` is that of the one before it, or -1.
RECKONER_NET_API void write_field_slot(BitWriter& writer, std::uint32_t slot, std::int64_t previous_slot);
/// Nothing after the last, or if the bytes are malformed.
[[nodiscard]] RECKONER_NET_API std::optional<std::uint32_t> read_field_slot(BitReader& reader,
                                                                            std::int64_t previous_slot);

/// The fields in `mask` (bit i: field i; not zero), with the ticks at which they changed, none after `now`.
RECKONER_NET_API void write_changes(BitWriter& writer, std::span<const FieldSpec> fields,
                                    std::span<const FieldValue> values, std::span<const Tick> changed,
                                    std::uint32_t mask, Tick now);
/// Appends what was changed. Whatever is wrong fails the reader.
RECKONER_NET_API void read_changes(BitReader& reader, std::span<const FieldSpec> fields,
                                   std::vector<FieldChange>& changes);

/// All values at once, for an entity's first message: a bit for every field, followed by the value if that is
/// not the initial one.
RECKONER_NET_API void write_values(BitWriter& writer, std::span<const FieldSpec> fields,
                                   std::span<const FieldValue> values);
/// Replaces `values`, one for every field. Whatever is wrong fails the reader.
RECKONER_NET_API void read_values(BitReader& reader, std::span<const FieldSpec> fields,
                                  std::vector<FieldValue>& values);

/// More than write_values() ever takes.
inline constexpr std::size_t kMaxValuesBytes = kMaxFields * (kMaxBlobBytes + 2);

}  // namespace reckoner
