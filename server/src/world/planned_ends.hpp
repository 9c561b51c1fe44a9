// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The short-lived entities whose end the game has planned (ShortLived::end_s), in the order of their ends.
/// Entities with the same end are in the order in which they were added.
class PlannedEnds {
 public:
  /// `end_s` is the server time of the end, s.
  void add(double end_s, EntityId id) { ends_.emplace(end_s, id); }
  /// The entity has ended before its time. `end_s` is the end that was planned.
  void remove(double end_s, EntityId id) {
    const auto [first, last] = ends_.equal_range(end_s);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == id; });
    if (found != last) ends_.erase(found);
  }
  /// Removes and returns an entity that ends at `now_s` or before; nullopt if there is none.
  [[nodiscard]] std::optional<EntityId> next_due(double now_s) {
    if (ends_.empty() || ends_.begin()->first > now_s) return std::nullopt;
    const EntityId id = ends_.begin()->second;
    ends_.erase(ends_.begin());
    return id;
  }

 private:
  std::multimap<double, EntityId> ends_;
};

}  // namespace reckoner
