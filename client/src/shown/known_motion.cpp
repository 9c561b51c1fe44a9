// SPDX-License-Identifier: MIT
#include "client/src/shown/known_motion.hpp"

#include <cmath>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// A state, and the frame in which it is given.
struct Framed {
  State state;
  FrameId frame;
};

std::optional<Framed> in_own_frame(const KnownEntity& entity, const OwnedSection& owned, double time_s) {
  if (entity.owned) {
    const OwnedEntity* own = owned.find(entity.id);
    if (own == nullptr || time_s < own->last().time_s) return std::nullopt;
    return Framed{state_at(own->last(), time_s), own->last().frame};
  }
  if (time_s < entity.remote.oldest().time_s) return std::nullopt;
  if (entity.despawned_s && time_s >= *entity.despawned_s) return std::nullopt;
  return Framed{entity.remote.motion_at(time_s), entity.remote.motion_frame(time_s)};
}

std::optional<State> in_world(const EntityStore& entities, const OwnedSection& owned, EntityId id,
                              double time_s, int most) {
  const KnownEntity* entity = entities.find(id);
  const auto framed = entity != nullptr ? in_own_frame(*entity, owned, time_s) : std::nullopt;
  if (!framed || !framed->frame) return framed ? std::optional(framed->state) : std::nullopt;
  const auto frame =
      most > 0 ? in_world(entities, owned, entity_of(framed->frame), time_s, most - 1) : std::nullopt;
  if (!frame) return std::nullopt;
  return out_of_frame(*frame, framed->state);
}

}  // namespace

std::optional<State> known_motion(const EntityStore& entities, const OwnedSection& owned, EntityId id,
                                  double time_s) {
  if (!std::isfinite(time_s)) return std::nullopt;
  const auto state = in_world(entities, owned, id, time_s, kMaxFrameDepth);
  return state && is_sane(*state) ? state : std::nullopt;
}

}  // namespace reckoner
