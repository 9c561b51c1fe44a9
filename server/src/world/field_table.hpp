// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/slot_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The user fields of all entities, by slot: the values as clients receive them (quantised), and the tick in
/// which each field last changed.
class FieldTable {
 public:
  /// The fields of one entity.
  struct Row {
    EntityId id;
    std::size_t archetype = 0;
    std::vector<FieldValue> values;
    std::vector<Tick> changed;      ///< for each field, the tick of its last change
    std::uint32_t changed_now = 0;  ///< bit set of the fields that changed since clear_changes()
  };

  /// `archetypes` must outlive the table.
  explicit FieldTable(std::span<const Archetype> archetypes) : archetypes_(archetypes) {}

  /// Adds an entity with the initial value in every field. Stores nothing if its archetype has no fields.
  void add(EntityId id, std::size_t archetype, Tick tick);
  void remove(EntityId id);

  /// Sets a field. `tick` is the coming tick, in which the change takes effect. Fails, and changes nothing,
  /// if the entity has no such field or the value is invalid for the field. Setting the current value again
  /// is not a change.
  CallResult set(EntityId id, std::size_t field, const FieldValue& value, Tick tick);

  /// Null if the entity does not exist or has no fields.
  [[nodiscard]] const Row* find(EntityId id) const;

  /// The field specifications of the row's archetype.
  [[nodiscard]] std::span<const FieldSpec> specs(const Row& row) const {
    return archetypes_[row.archetype].fields;
  }

  /// The slots whose fields changed since clear_changes().
  [[nodiscard]] const SlotSet& changes() const { return changes_; }
  [[nodiscard]] const Row& row(std::uint32_t slot) const { return rows_[slot]; }
  void clear_changes();

 private:
  std::span<const Archetype> archetypes_;
  std::vector<Row> rows_;  // index: slot; the id is null if the slot has no fields
  SlotSet changes_;
};

}  // namespace reckoner
