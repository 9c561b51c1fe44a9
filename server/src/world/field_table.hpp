// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/slot_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The user fields of all entities, by slot: their values as clients get them, and when each changed last.
class FieldTable {
 public:
  struct Row {
    EntityId id;
    std::size_t archetype = 0;
    std::vector<FieldValue> values;
    std::vector<Tick> changed;      ///< by field
    std::uint32_t changed_now = 0;  ///< fields changed since clear_changes(), a bit each
  };

  /// The archetypes must outlive the table.
  explicit FieldTable(std::span<const Archetype> archetypes) : archetypes_(archetypes) {}

  /// All fields of a new entity have their initial values. An entity whose archetype has none is not kept.
  void add(EntityId id, std::size_t archetype, Tick tick);
  void remove(EntityId id);

  /// Sets a field as of the coming tick `tick`. False, and nothing changes, for an entity or field that there
  /// is not, or a value that the field cannot have. Setting what it has already is no change.
  bool set(EntityId id, std::size_t field, const FieldValue& value, Tick tick);

  /// Null if there is no such entity, or it has no fields.
  [[nodiscard]] const Row* find(EntityId id) const;

  [[nodiscard]] std::span<const FieldSpec> specs(const Row& row) const {
    return archetypes_[row.archetype].fields;
  }

  /// Slots with changes since clear_changes().
  [[nodiscard]] const SlotSet& changes() const { return changes_; }
  [[nodiscard]] const Row& row(std::uint32_t slot) const { return rows_[slot]; }
  void clear_changes();

 private:
  std::span<const Archetype> archetypes_;
  std::vector<Row> rows_;  // by slot; a null id where there is none
  SlotSet changes_;
};

}  // namespace reckoner
