// SPDX-License-Identifier: MIT
#include "net/src/codec/field_codec.hpp"

#include "net/src/wire/bit_archive.hpp"

#include <bit>
#include <cassert>
#include <cstddef>
#include <variant>

namespace reckoner {
namespace {

constexpr unsigned kGapOrder = 2;        // order of the gaps between slots
constexpr unsigned kChangeAgeOrder = 0;  // most changes are sent in the tick in which they happen

// An integer is sent as its offset from `least`. Unsigned arithmetic makes this correct for every 64-bit
// range.
std::uint64_t span_of(const IntegerField& f) {
  return static_cast<std::uint64_t>(f.most) - static_cast<std::uint64_t>(f.least);
}

template <class Archive>
constexpr bool kReads = Archive::is_loading::value;

template <class Archive>
void serialize_value(Archive& archive, const BooleanField&, bool& value) {
  archive(value);
}
template <class Archive>
void serialize_value(Archive& archive, const IntegerField& f, std::int64_t& value) {
  std::uint64_t offset = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(f.least);
  archive(wire::up_to(offset, span_of(f)));
  value = static_cast<std::int64_t>(static_cast<std::uint64_t>(f.least) + offset);
}
template <class Archive>
void serialize_value(Archive& archive, const RealField& f, double& value) {
  std::uint64_t index = kReads<Archive> ? 0 : index_of(f, value);
  archive(wire::up_to(index, index_of(f, f.most)));
  if constexpr (kReads<Archive>) value = real_at(f, index);
}
template <class Archive>
void serialize_value(Archive& archive, const BlobField& f, Blob& value) {
  std::array<std::byte, kMaxBlobBytes> bytes{};
  std::uint64_t size = value.bytes().size();
  archive(wire::up_to(size, f.most_bytes));
  if constexpr (kReads<Archive>) {
    archive(wire::raw(std::span(bytes).first(size)));
    value = *Blob::of(std::span(bytes).first(size));
  } else {
    archive(wire::raw(value.bytes()));
  }
}

// A single changed field is sent as its number. Several changed fields are sent as one bit per field. If the
// archetype has only one field, neither is sent.
template <class Archive>
void serialize_set(Archive& archive, std::size_t count, std::uint32_t& set) {
  if (count == 1) {
    set = 1;
    return;
  }
  bool single = std::has_single_bit(set);
  archive(single);
  if (single) {
    std::uint64_t field = kReads<Archive> ? 0 : static_cast<std::uint64_t>(std::countr_zero(set));
    archive(wire::up_to(field, count - 1));
    set = std::uint32_t{1} << field;
    return;
  }
  archive(wire::fixed(set, static_cast<unsigned>(count)));
  if constexpr (kReads<Archive>) {
    if (std::popcount(set) < 2) archive.bits().fail();  // a single field must be sent as its number
  }
}

}  // namespace

void write_value(BitWriter& writer, const FieldSpec& field, const FieldValue& value) {
  wire::BitOutputArchive archive{writer};
  std::visit(
      [&](const auto& f) {
        const auto* v = std::get_if<std::remove_cvref_t<decltype(f.initial)>>(&value);
        assert(v != nullptr);
        if (v == nullptr) return;
        auto copy = *v;
        serialize_value(archive, f, copy);
      },
      field.type);
}

FieldValue read_value(BitReader& reader, const FieldSpec& field) {
  wire::BitInputArchive archive{reader};
  return std::visit(
      [&](const auto& f) {
        auto value = f.initial;
        serialize_value(archive, f, value);
        return FieldValue{value};
      },
      field.type);
}

void write_field_slot(BitWriter& writer, std::uint32_t slot, std::int64_t previous_slot) {
  assert(std::int64_t{slot} > previous_slot);
  auto gap = static_cast<std::uint32_t>(std::int64_t{slot} - previous_slot - 1);
  bool more = true;
  wire::BitOutputArchive archive{writer};
  archive(more, wire::golomb(gap, kGapOrder));
}

std::optional<std::uint32_t> read_field_slot(BitReader& reader, std::int64_t previous_slot) {
  wire::BitInputArchive archive{reader};
  bool more = false;
  archive(more);
  if (!more) return std::nullopt;
  std::uint32_t gap = 0;
  archive(wire::golomb(gap, kGapOrder));
  const std::int64_t slot = previous_slot + 1 + gap;
  if (slot >= kMaxEntities) reader.fail();
  if (reader.failed()) return std::nullopt;
  return static_cast<std::uint32_t>(slot);
}

void write_changes(BitWriter& writer, std::span<const FieldSpec> fields, std::span<const FieldValue> values,
                   std::span<const Tick> changed, std::uint32_t mask, Tick now,
                   std::span<std::uint32_t> value_bits) {
  assert(mask != 0 && (fields.size() == kMaxFields || mask >> fields.size() == 0));
  wire::BitOutputArchive archive{writer};
  while (mask != 0) {
    const Tick tick = changed[static_cast<std::size_t>(std::countr_zero(mask))];
    std::uint32_t group = 0;
    for_each_field(mask, [&](std::size_t i) { group |= std::uint32_t{changed[i] == tick} << i; });
    mask &= ~group;
    std::uint32_t age = now - tick;
    archive(wire::golomb(age, kChangeAgeOrder));
    serialize_set(archive, fields.size(), group);
    for_each_field(group, [&](std::size_t i) {
      const std::size_t before = writer.bits_written();
      write_value(writer, fields[i], values[i]);
      if (!value_bits.empty()) value_bits[i] = static_cast<std::uint32_t>(writer.bits_written() - before);
    });
    bool more = mask != 0;
    if (fields.size() > 1) archive(more);
  }
}

void read_changes(BitReader& reader, std::span<const FieldSpec> fields, std::vector<FieldChange>& changes) {
  if (fields.empty()) return reader.fail();
  wire::BitInputArchive archive{reader};
  std::uint32_t seen = 0;
  for (bool more = true; more && !reader.failed();) {
    std::uint32_t age = 0;
    std::uint32_t group = 0;
    archive(wire::golomb(age, kChangeAgeOrder));
    serialize_set(archive, fields.size(), group);
    if ((group & seen) != 0) reader.fail();
    if (reader.failed()) return;
    seen |= group;
    for_each_field(group, [&](std::size_t i) {
      changes.push_back({static_cast<std::uint8_t>(i), age, read_value(reader, fields[i])});
    });
    more = false;
    if (fields.size() > 1) archive(more);
  }
}

void write_values(BitWriter& writer, std::span<const FieldSpec> fields, std::span<const FieldValue> values) {
  wire::BitOutputArchive archive{writer};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    bool differs = values[i] != initial_value(fields[i]);
    archive(differs);
    if (differs) write_value(writer, fields[i], values[i]);
  }
}

std::size_t max_values_bytes(std::span<const FieldSpec> fields) {
  std::size_t bits = 0;
  std::array<std::byte, kMaxBlobBytes + 16> buffer;
  for (const FieldSpec& field : fields) {
    const auto* blob = std::get_if<BlobField>(&field.type);
    BitWriter writer{buffer};
    // All other types have the same size whatever their value.
    write_value(writer, field,
                blob != nullptr ? FieldValue{*Blob::of(std::span(buffer).first(blob->most_bytes))}
                                : initial_value(field));
    bits += 1 + writer.bits_written();
  }
  return (bits + 7) / 8;
}

void read_values(BitReader& reader, std::span<const FieldSpec> fields, std::vector<FieldValue>& values) {
  values.clear();
  wire::BitInputArchive archive{reader};
  for (const FieldSpec& field : fields) {
    bool differs = false;
    archive(differs);
    values.push_back(differs ? read_value(reader, field) : initial_value(field));
  }
}

}  // namespace reckoner
