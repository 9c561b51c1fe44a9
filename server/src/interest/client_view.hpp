// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/interest.hpp>

namespace reckoner {

/// What decides which entities concern one client, and what it makes of them.
struct ClientView {
  struct Exception {
    EntityId entity;
    Relevance relevance;
  };

  std::optional<glm::dvec3> eye;  ///< m, world; without one nothing is near
  std::uint32_t groups = kAllGroups;
  std::vector<Exception> exceptions;  ///< to the entities' own relevance; few
  bool shows_past = false;  ///< it interpolates between motions, and never predicts if all goes well
  bool changed = true;      ///< since the client's interest were last looked at
  std::optional<glm::dvec3> eye_for_rest;  ///< where it was when they were last searched for what rests

  /// The entity ended.
  void forget(EntityId entity) {
    if (!exceptions.empty())
      std::erase_if(exceptions, [&](const Exception& e) { return e.entity == entity; });
  }

  void set_relevance(EntityId entity, Relevance relevance) {
    std::erase_if(exceptions, [&](const Exception& e) { return e.entity == entity; });
    exceptions.push_back({entity, relevance});
    changed = true;
  }

  /// What goes for this client about an entity whose own relevance is `own`.
  [[nodiscard]] Relevance relevance_of(EntityId entity, Relevance own) const {
    const auto found = std::find_if(exceptions.begin(), exceptions.end(),
                                    [&](const Exception& e) { return e.entity == entity; });
    return found == exceptions.end() ? own : found->relevance;
  }
};

}  // namespace reckoner
