// SPDX-License-Identifier: MIT
#include "server/src/world/field_table.hpp"

namespace reckoner {

void FieldTable::add(EntityId id, std::size_t archetype, Tick tick) {
  const std::vector<FieldSpec>& specs = archetypes_[archetype].fields;
  if (specs.empty()) return;
  if (id.slot() >= rows_.size()) rows_.resize(id.slot() + 1);
  Row& row = rows_[id.slot()];
  row.id = id;
  row.archetype = archetype;
  row.values.clear();
  for (const FieldSpec& spec : specs)
    row.values.push_back(initial_value(spec));
  row.changed.assign(specs.size(), tick);
}

void FieldTable::remove(EntityId id) {
  if (find(id) == nullptr) return;
  rows_[id.slot()].id = {};
  rows_[id.slot()].changed_now = 0;
  changes_.erase(static_cast<std::uint32_t>(id.slot()));
}

CallResult FieldTable::set(EntityId id, std::size_t field, const FieldValue& value, Tick tick) {
  if (find(id) == nullptr) return CallError::unknown_field;
  Row& row = rows_[id.slot()];
  const std::span<const FieldSpec> fields = specs(row);
  if (field >= fields.size()) return CallError::unknown_field;
  // The types of fields and of values have one order.
  if (value.index() != fields[field].type.index()) return CallError::wrong_type;
  const auto quantised = quantise(value, fields[field]);
  if (!quantised) return CallError::out_of_range;
  if (*quantised == row.values[field]) return {};
  row.values[field] = *quantised;
  row.changed[field] = tick;
  changes_.insert(static_cast<std::uint32_t>(id.slot()));
  row.changed_now |= std::uint32_t{1} << field;
  return {};
}

const FieldTable::Row* FieldTable::find(EntityId id) const {
  if (!id || id.slot() >= rows_.size() || rows_[id.slot()].id != id) return nullptr;
  return &rows_[id.slot()];
}

void FieldTable::clear_changes() {
  changes_.for_each([this](std::uint32_t slot) { rows_[slot].changed_now = 0; });
  changes_.clear();
}

}  // namespace reckoner
