// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <span>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// What a paused client shows: all entities as they were at the pause, at rest. Positions are kept in the
/// server's world, whatever the origin of the game's coordinates.
class FrozenPicture {
 public:
  [[nodiscard]] bool active() const { return active_; }

  /// Freezes the entities `shown`; `origin` is the origin of their positions, m.
  void freeze(std::span<const ShownEntity> shown, const glm::dvec3& origin);
  void thaw() { active_ = false; }

  /// The frozen entities that still exist, relative to `origin`, m. Valid until the next call.
  [[nodiscard]] std::span<const ShownEntity> shown(const EntityStore& entities, const glm::dvec3& origin);
  [[nodiscard]] ShownPoses poses(const EntityStore& entities, const glm::dvec3& origin);

  /// All frozen entities, in the server's world.
  [[nodiscard]] std::span<const ShownEntity> all() const { return frozen_; }

 private:
  bool active_ = false;
  std::vector<ShownEntity> frozen_;
  std::vector<ShownEntity> shown_;
  std::vector<EntityId> ids_;
  std::vector<glm::dvec3> positions_;
  std::vector<glm::quat> orientations_;
};

}  // namespace reckoner
