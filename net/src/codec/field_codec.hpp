// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The fields section of a state datagram. For every entity, in slot order, it contains a set bit, the gap to
// the previous slot, and the changes. A clear bit ends the section. Changes of one tick form a group, which
// contains the age of the tick, the set of fields, and their values.

/// A new value of a field.
struct FieldChange {
  std::uint8_t field = 0;  ///< index in Archetype::fields
  std::uint32_t age = 0;   ///< ticks from the change to the datagram's tick
  FieldValue value;        ///< the new value
};

/// Calls visit(index) for every field in a mask (bit i: field i), in ascending order.
template <class Visit>
void for_each_field(std::uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// Writes one value, which must be a result of quantise().
RECKONER_NET_API void write_value(BitWriter& writer, const FieldSpec& field, const FieldValue& value);
/// Reads one value. Marks the reader as failed if the value is invalid.
[[nodiscard]] RECKONER_NET_API FieldValue read_value(BitReader& reader, const FieldSpec& field);

/// Writes the set bit and the slot of an entity. `previous_slot` is the slot of the previous entity, or -1.
RECKONER_NET_API void write_field_slot(BitWriter& writer, std::uint32_t slot, std::int64_t previous_slot);
/// Reads the next slot. Returns nullopt after the last entity and for malformed bytes.
[[nodiscard]] RECKONER_NET_API std::optional<std::uint32_t> read_field_slot(BitReader& reader,
                                                                            std::int64_t previous_slot);

/// Writes the fields in `mask` (bit i: field i; not zero) and the ticks when they changed. No tick may be
/// after `now`. `value_bits` is empty, or has a number for each field: the sizes of the written values are
/// stored there, bits.
RECKONER_NET_API void write_changes(BitWriter& writer, std::span<const FieldSpec> fields,
                                    std::span<const FieldValue> values, std::span<const Tick> changed,
                                    std::uint32_t mask, Tick now, std::span<std::uint32_t> value_bits = {});
/// Reads changes and appends them. Marks the reader as failed if the bytes are malformed.
RECKONER_NET_API void read_changes(BitReader& reader, std::span<const FieldSpec> fields,
                                   std::vector<FieldChange>& changes);

/// Writes all values of an entity for its spawn. For each field there is one bit. If the value
/// differs from the initial value, the bit is set and the value follows.
RECKONER_NET_API void write_values(BitWriter& writer, std::span<const FieldSpec> fields,
                                   std::span<const FieldValue> values);
/// Reads a value for every field into `values` and discards its old contents. Marks the reader as failed if
/// the bytes are malformed.
RECKONER_NET_API void read_values(BitReader& reader, std::span<const FieldSpec> fields,
                                  std::vector<FieldValue>& values);

/// The largest number of bytes that write_values() writes for these fields.
[[nodiscard]] RECKONER_NET_API std::size_t max_values_bytes(std::span<const FieldSpec> fields);
/// Upper bound of the bytes that write_values() writes.
inline constexpr std::size_t kMaxValuesBytes = kMaxFields * (kMaxBlobBytes + 2);

}  // namespace reckoner
