// SPDX-License-Identifier: MIT
// User fields of any type and range: initial values and changes.
#include "generate.hpp"
#include "net/src/codec/field_codec.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

constexpr Tick kNow = 5000;

void read_any(std::span<const std::byte> bytes, std::span<const FieldSpec> fields) {
  BitReader reader{bytes};
  std::vector<FieldChange> changes;
  std::int64_t previous = -1;
  std::size_t seen = 0;
  while (const auto slot = read_field_slot(reader, previous)) {
    check(*slot > previous && *slot < kMaxEntities, "slots rise");
    previous = *slot;
    read_changes(reader, fields, changes);
    if (reader.failed()) break;
    for (; seen < changes.size(); ++seen) {
      const FieldChange& c = changes[seen];
      check(c.field < fields.size(), "a change is of a field");
      check(quantise(c.value, fields[c.field]) == c.value, "a value is one of its field");
    }
  }
  BitReader whole{bytes};
  std::vector<FieldValue> values;
  read_values(whole, fields, values);
  check(values.size() == fields.size(), "there is a value for every field");
  if (!whole.finished()) return;
  Bytes buffer(kMaxValuesBytes);
  BitWriter writer{buffer};
  write_values(writer, fields, values);
  const Bytes again = finished(writer);
  BitReader second{again};
  std::vector<FieldValue> same;
  read_values(second, fields, same);
  check(second.finished() && same == values, "values are written as they were read");
}

Bytes changes_of(Choices& choices, std::span<const FieldSpec> fields) {
  const std::vector<FieldValue> values = any_values(choices, fields);
  std::vector<Tick> changed;
  for (std::size_t i = 0; i < fields.size(); ++i)
    changed.push_back(kNow - static_cast<Tick>(choices.up_to(choices.flag() ? 2 : kNow)));
  const std::uint32_t all = static_cast<std::uint32_t>((std::uint64_t{1} << fields.size()) - 1);
  const std::uint32_t mask = static_cast<std::uint32_t>(choices.up_to(UINT32_MAX)) & all;
  if (mask == 0) return {};
  Bytes buffer(4 * kMaxValuesBytes);
  BitWriter writer{buffer};
  const auto slot = static_cast<std::uint32_t>(choices.up_to(kMaxEntities - 1));
  write_field_slot(writer, slot, -1);
  write_changes(writer, fields, values, changed, mask, kNow);
  writer.write(0, 1);
  const Bytes bytes = finished(writer);

  BitReader reader{bytes};
  check(read_field_slot(reader, -1) == slot, "a slot arrives");
  std::vector<FieldChange> read;
  read_changes(reader, fields, read);
  check(!reader.failed() && static_cast<int>(read.size()) == std::popcount(mask), "all changes arrive");
  for (const FieldChange& c : read) {
    check((mask >> c.field & 1u) != 0 && c.value == values[c.field] && kNow - c.age == changed[c.field],
          "a change arrives as it is");
  }
  return bytes;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  Choices choices{input.subspan(1)};
  std::vector<FieldSpec> fields;
  for (std::size_t n = choices.up_to(kMaxFields - 1) + 1; n > 0; --n)
    fields.push_back(any_field(choices, "field " + std::to_string(n)));
  check(is_valid(fields), "fields are valid");
  if (input.front() == kRaw) return read_any(choices.rest(), fields);
  Bytes bytes = changes_of(choices, fields);
  if (damage(choices, bytes)) read_any(bytes, fields);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  add_choices(out, 12, 500, kChoices);
  add_choices(out, 6, 500, kRaw);
  return out;
}

}  // namespace reckoner::fuzz
