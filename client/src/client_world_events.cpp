// SPDX-License-Identifier: MIT
#include "client/src/client_world.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace reckoner {

void ClientWorld::report_changes() {
  if (paused() || !link.clock().ready()) return;
  const double shown_s = playout.shown_s();
  change_fields(shown_s);
  events.review_news([&](std::uint32_t slot) {
    const auto& entity = entities.slots()[slot];
    if (!entity) return false;
    const bool exists = report(*entity, shown_s);
    if (!entity) return false;
    const bool comes_later = !exists || entity->despawned_s || has_jumped(*entity) ||
                             entity->remote.newest().teleports != entity->teleports_reported;
    entity->has_news = comes_later;
    return comes_later;
  });
}

// Reports the events of one entity up to `shown_s`. Returns false if the entity does not exist at `shown_s`;
// it may then have been removed.
bool ClientWorld::report(KnownEntity& entity, double shown_s, int depth) {
  if (entity.lacks_fields != 0) return false;
  if (!entity.is_reported && !report_frame(entity, shown_s, depth)) return false;
  if (entity.despawned_s && shown_s >= *entity.despawned_s) {
    remove(static_cast<std::uint32_t>(entity.id.slot()), *entity.despawned_s);
    return false;
  }
  // Shown time can fall behind the spawn again when the delay grows after a silence. A reported entity then
  // stays. An owned entity shows the present in every mode.
  if (path_ == MotionPath::interpolate && !entity.is_reported && !entity.owned && shown_s < entity.spawned_s)
    return false;
  const std::uint8_t teleports = entity.remote.teleports(shown_s);
  if (!entity.is_reported) {
    entity.is_reported = true;
    events.add({ClientEvent::Kind::spawned, entity.id, 0, continue_prediction(entity, shown_s)});
    entity.jumps_reported = entity.remote.jumps();
  } else if (teleports != entity.teleports_reported) {
    events.add({ClientEvent::Kind::teleported, entity.id});
  }
  entity.teleports_reported = teleports;
  if (has_jumped(entity) && shown_s >= entity.remote.jumped_s()) {
    entity.jumps_reported = entity.remote.jumps();
    events.add({ClientEvent::Kind::snapped, entity.id});
  }
  if (entity.owned && !entity.ownership_state.is_reported) {
    entity.ownership_state.is_reported = true;
    entity.ownership_state.moved_s = playout.now_s();
    ++entity.ownership_state.unpolled;
    events.add({ClientEvent::Kind::given, entity.id});
  }
  return true;
}

// Reports the entity of the frame that this one is in, because it must be known before. Returns false if it
// has not arrived yet, or does not exist at `shown_s`. `depth` counts the frames inside.
bool ClientWorld::report_frame(const KnownEntity& entity, double shown_s, int depth) {
  const FrameId frame = entity.remote.frame(shown_s);
  if (!frame || depth == kMaxFrameDepth) return true;
  const KnownEntity* known = std::as_const(entities).find(entity_of(frame));
  if (known == nullptr) return entities.is_refused(entity_of(frame));
  return known->is_reported || report(*entities.find(known->id), shown_s, depth + 1);
}

// Must run before any entity appears, so that it appears with the field values of this time.
void ClientWorld::change_fields(double shown_s) {
  constexpr double kNow = std::numeric_limits<double>::infinity();  // everything that has arrived
  const double until_s = path_ == MotionPath::predict ? kNow : shown_s;
  waiting_fields_.advance(until_s, entities, [this](KnownEntity& entity, std::uint32_t fields) {
    if (entity.is_reported) events.add({ClientEvent::Kind::fields_changed, entity.id, fields});
    if ((entity.lacks_fields & fields) == 0) return;
    entity.lacks_fields &= ~fields;
    events.note_news(entity);
  });
}

// If the client has predicted the entity, the entity continues from the predicted pose. Returns the id of the
// prediction, or null.
EntityId ClientWorld::continue_prediction(KnownEntity& entity, double shown_s) {
  const auto prediction = entity.prediction ? predictions.release(*entity.prediction) : std::nullopt;
  if (!prediction) return {};
  // In buffered modes the prediction is ahead by the delay. Updates that arrive meanwhile must not shorten
  // the way back to an ordinary blend, as they do not shorten a catch-up.
  const double delay_s = playout.delay_s();
  const BlendTime blend = delay_s <= kLongestCatchUpS ? BlendTime{blend_s(), delay_s}
                                                      : BlendTime{std::max(blend_s(), kLongestCatchUpS)};
  (void)blend_from_world(entity, state_at(prediction->motion, playout.now_s()), blend);
  entity.visible = true;
  entity.teleports_shown = entity.remote.teleports(shown_s);
  return prediction->id;
}

void ClientWorld::fail_prediction(EntityId id) {
  events.add({ClientEvent::Kind::prediction_failed, id});
}

void ClientWorld::report_end() {
  for (const auto& entity : entities.slots()) {
    if (entity && entity->is_reported) events.add({ClientEvent::Kind::despawned, entity->id});
  }
  for (const Predictions::Prediction& prediction : predictions.all())
    fail_prediction(prediction.id);
}

}  // namespace reckoner
