// SPDX-License-Identifier: MIT
#include "net/src/codec/field_codec.hpp"

#include "net/src/wire/bit_archive.hpp"

#include <bit>
#include <cassert>
#include <cstddef>
#include <variant>

namespace reckoner {
namespace {

constexpr unsigned kGapOrder = 2;        // of slot gaps
constexpr unsigned kChangeAgeOrder = 0;  // most changes are sent in the tick in which they happen

// An integer is sent as its offset from `least`. Unsigned arithmetic makes this correct for every 64-bit
// range.
std::uint64_t span_of(const IntegerField& f) {
  return static_cast<std::uint64_t>(f.most) - static_cast<std::uint64_t>(f.least);
}

std::uint64_t read_up_to(BitReader& reader, std::uint64_t most) {
  const std::uint64_t number = reader.read(wire::bits_for(most));
  if (number <= most) return number;
  reader.fail();
  return 0;
}

void write_one(BitWriter& writer, const BooleanField&, bool value) {
  writer.write(value ? 1 : 0, 1);
}
void write_one(BitWriter& writer, const IntegerField& f, std::int64_t value) {
  writer.write(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(f.least),
               wire::bits_for(span_of(f)));
}
void write_one(BitWriter& writer, const RealField& f, double value) {
  writer.write(index_of(f, value), wire::bits_for(index_of(f, f.most)));
}
void write_one(BitWriter& writer, const BlobField& f, const Blob& value) {
  writer.write(value.bytes().size(), wire::bits_for(f.most_bytes));
  writer.append(value.bytes(), value.bytes().size() * 8);
}

bool read_one(BitReader& reader, const BooleanField&) {
  return reader.read(1) != 0;
}
std::int64_t read_one(BitReader& reader, const IntegerField& f) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(f.least) + read_up_to(reader, span_of(f)));
}
double read_one(BitReader& reader, const RealField& f) {
  return real_at(f, read_up_to(reader, index_of(f, f.most)));
}
Blob read_one(BitReader& reader, const BlobField& f) {
  std::array<std::byte, kMaxBlobBytes> bytes{};
  const std::size_t size = read_up_to(reader, f.most_bytes);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(reader.read(8));
  return *Blob::of(std::span{bytes}.first(size));
}

// A single changed field is sent as its number, several as one bit per field. If the archetype has only one
// field, nothing is sent.
void write_set(BitWriter& writer, std::size_t count, std::uint32_t set) {
  if (count == 1) return;
  const bool single = std::has_single_bit(set);
  writer.write(single ? 1 : 0, 1);
  if (single) {
    writer.write(static_cast<unsigned>(std::countr_zero(set)), wire::bits_for(count - 1));
  } else {
    writer.write(set, static_cast<unsigned>(count));
  }
}

std::uint32_t read_set(BitReader& reader, std::size_t count) {
  if (count == 1) return 1;
  if (reader.read(1) != 0) return std::uint32_t{1} << read_up_to(reader, count - 1);
  const auto set = static_cast<std::uint32_t>(reader.read(static_cast<unsigned>(count)));
  if (std::popcount(set) < 2) reader.fail();  // a single field must be sent as its number
  return set;
}

template <class F>
void for_each_bit(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1)
    f(static_cast<std::size_t>(std::countr_zero(mask)));
}

}  // namespace

void write_value(BitWriter& writer, const FieldSpec& field, const FieldValue& value) {
  std::visit(
      [&](const auto& f) {
        const auto* v = std::get_if<std::remove_cvref_t<decltype(f.initial)>>(&value);
        assert(v != nullptr);
        if (v != nullptr) write_one(writer, f, *v);
      },
      field.type);
}

FieldValue read_value(BitReader& reader, const FieldSpec& field) {
  return std::visit([&](const auto& f) { return FieldValue{read_one(reader, f)}; }, field.type);
}

void write_field_slot(BitWriter& writer, std::uint32_t slot, std::int64_t previous_slot) {
  assert(std::int64_t{slot} > previous_slot);
  auto gap = static_cast<std::uint32_t>(std::int64_t{slot} - previous_slot - 1);
  bool more = true;
  wire::BitOutputArchive archive{writer};
  archive(more, wire::golomb(gap, kGapOrder));
}

std::optional<std::uint32_t> read_field_slot(BitReader& reader, std::int64_t previous_slot) {
  if (reader.read(1) == 0) return std::nullopt;
  std::uint32_t gap = 0;
  wire::BitInputArchive archive{reader};
  archive(wire::golomb(gap, kGapOrder));
  const std::int64_t slot = previous_slot + 1 + gap;
  if (slot >= kMaxEntities) reader.fail();
  if (reader.failed()) return std::nullopt;
  return static_cast<std::uint32_t>(slot);
}

void write_changes(BitWriter& writer, std::span<const FieldSpec> fields, std::span<const FieldValue> values,
                   std::span<const Tick> changed, std::uint32_t mask, Tick now) {
  assert(mask != 0 && (fields.size() == kMaxFields || mask >> fields.size() == 0));
  wire::BitOutputArchive archive{writer};
  while (mask != 0) {
    const Tick tick = changed[static_cast<std::size_t>(std::countr_zero(mask))];
    std::uint32_t group = 0;
    for_each_bit(mask, [&](std::size_t i) { group |= std::uint32_t{changed[i] == tick} << i; });
    mask &= ~group;
    std::uint32_t age = now - tick;
    archive(wire::golomb(age, kChangeAgeOrder));
    write_set(writer, fields.size(), group);
    for_each_bit(group, [&](std::size_t i) { write_value(writer, fields[i], values[i]); });
    if (fields.size() > 1) writer.write(mask != 0 ? 1 : 0, 1);
  }
}

void read_changes(BitReader& reader, std::span<const FieldSpec> fields, std::vector<FieldChange>& changes) {
  if (fields.empty()) return reader.fail();
  wire::BitInputArchive archive{reader};
  std::uint32_t seen = 0;
  for (bool more = true; more && !reader.failed();) {
    std::uint32_t age = 0;
    archive(wire::golomb(age, kChangeAgeOrder));
    const std::uint32_t group = read_set(reader, fields.size());
    if ((group & seen) != 0) reader.fail();
    if (reader.failed()) return;
    seen |= group;
    for_each_bit(group, [&](std::size_t i) {
      changes.push_back({static_cast<std::uint8_t>(i), age, read_value(reader, fields[i])});
    });
    more = fields.size() > 1 && reader.read(1) != 0;
  }
}

void write_values(BitWriter& writer, std::span<const FieldSpec> fields, std::span<const FieldValue> values) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool differs = values[i] != initial_value(fields[i]);
    writer.write(differs ? 1 : 0, 1);
    if (differs) write_value(writer, fields[i], values[i]);
  }
}

void read_values(BitReader& reader, std::span<const FieldSpec> fields, std::vector<FieldValue>& values) {
  values.clear();
  for (const FieldSpec& field : fields)
    values.push_back(reader.read(1) != 0 ? read_value(reader, field) : initial_value(field));
}

}  // namespace reckoner
