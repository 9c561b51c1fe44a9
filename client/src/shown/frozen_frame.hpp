// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <span>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// What a paused client goes on showing: everything as it was when it was paused, at rest. Positions are kept
/// in the server's world, whatever origin the game counts from.
class FrozenFrame {
 public:
  [[nodiscard]] bool active() const { return active_; }

  /// From now on this is shown; `origin` is what its positions count from.
  void freeze(std::span<const ShownEntity> shown, const glm::dvec3& origin);
  void thaw() { active_ = false; }

  /// What is left of it: what has gone meanwhile is left out. Valid until the next call.
  [[nodiscard]] std::span<const ShownEntity> shown(const EntityStore& entities, const glm::dvec3& origin);
  [[nodiscard]] ShownPoses poses(const EntityStore& entities, const glm::dvec3& origin);

  /// As it was when frozen, in the server's world.
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
