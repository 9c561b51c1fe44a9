// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner {

/// The entities with changes of user fields that wait to take effect. So the cost of a picture depends on
/// the number of changes and not of entities.
class WaitingFields {
 public:
  /// Adds a change for the entity in a slot. False if there is no such entity, or the change is known or
  /// outdated.
  bool add(std::uint32_t slot, std::size_t field, double time_s, const FieldValue& value,
           EntityStore& entities) {
    KnownEntity* entity = entities.at(slot);
    if (entity == nullptr || !entity->fields.add(field, time_s, value)) return false;
    const auto place = std::lower_bound(slots_.begin(), slots_.end(), slot);
    if (place == slots_.end() || *place != slot) slots_.insert(place, slot);
    return true;
  }

  /// Puts the changes up to `time_s` into effect, in order of slot. Calls `f(entity, fields)` for every
  /// entity with changed fields, with their bit set.
  template <class F>
  void advance(double time_s, EntityStore& entities, F&& f) {
    std::erase_if(slots_, [&](std::uint32_t slot) {
      KnownEntity* entity = entities.at(slot);
      if (entity == nullptr) return true;
      const std::uint32_t fields = entity->fields.advance(time_s);
      if (fields != 0) f(*entity, fields);
      return !entity->fields.waiting();
    });
  }

 private:
  std::vector<std::uint32_t> slots_;  // ascending, each once
};

}  // namespace reckoner
