// SPDX-License-Identifier: MIT
#include "client/src/shown/frozen_picture.hpp"

namespace reckoner {
namespace {

void bring_to_rest(State& state) {
  state.velocity = state.acceleration = state.angular_velocity = glm::vec3{0.0f};
}

}  // namespace

void FrozenPicture::freeze(std::span<const ShownEntity> shown, const glm::dvec3& origin) {
  active_ = true;
  frozen_.assign(shown.begin(), shown.end());
  for (ShownEntity& entity : frozen_) {
    bring_to_rest(entity.shown);
    bring_to_rest(entity.local);
    entity.shown.position += origin;
    if (!entity.frame) entity.local.position += origin;
    entity.info = nullptr;  // it may be replaced during the pause
  }
}

std::span<const ShownEntity> FrozenPicture::shown(const EntityStore& entities, const glm::dvec3& origin) {
  shown_.clear();
  for (const ShownEntity& entity : frozen_) {
    const KnownEntity* known = entities.find(entity.id);
    if (known == nullptr) continue;
    ShownEntity& left = shown_.emplace_back(entity);
    left.info = &known->info;
    left.shown.position -= origin;
    if (!left.frame) left.local.position -= origin;
  }
  return shown_;
}

ShownPoses FrozenPicture::poses(const EntityStore& entities, const glm::dvec3& origin) {
  ids_.clear();
  positions_.clear();
  orientations_.clear();
  for (const ShownEntity& entity : shown(entities, origin)) {
    ids_.push_back(entity.id);
    positions_.push_back(entity.shown.position);
    orientations_.push_back(entity.shown.orientation);
  }
  return {ids_, positions_, orientations_, shown_.empty() ? 0.0 : shown_.front().shown_time_s};
}

}  // namespace reckoner
