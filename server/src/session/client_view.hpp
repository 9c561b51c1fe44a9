// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The settings that decide which entities are relevant for one client.
struct ClientView {
  /// The relevance of one entity that the game set for this client only.
  struct RelevanceOverride {
    EntityId entity;
    Relevance relevance;
  };

  std::optional<glm::dvec3> eye;  ///< the client's eye in the world frame, m; empty: no entity counts as near
  std::uint32_t groups = kAllGroups;
  /// Entities whose relevance differs for this client; the list is short.
  std::vector<RelevanceOverride> relevance_overrides;
  bool shows_past = false;  ///< the client interpolates instead of predicting while updates arrive in time
  bool changed = true;      ///< the settings changed since the last full update of the client's interest
  std::optional<glm::dvec3> eye_for_rest;  ///< where the eye was at the last search of entities at rest

  /// Drops the overrides for an entity that ended.
  void forget(EntityId entity) {
    if (!relevance_overrides.empty())
      std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
  }

  void set_relevance(EntityId entity, Relevance relevance) {
    std::erase_if(relevance_overrides, [&](const RelevanceOverride& e) { return e.entity == entity; });
    relevance_overrides.push_back({entity, relevance});
    changed = true;
  }

  /// The relevance of an entity for this client: the override if there is one, else `own`. `own` is the
  /// relevance of the entity for all clients.
  [[nodiscard]] Relevance relevance_of(EntityId entity, Relevance own) const {
    const auto found = std::find_if(relevance_overrides.begin(), relevance_overrides.end(),
                                    [&](const RelevanceOverride& e) { return e.entity == entity; });
    return found == relevance_overrides.end() ? own : found->relevance;
  }
};

}  // namespace reckoner
