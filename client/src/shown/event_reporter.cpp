// SPDX-License-Identifier: MIT
#include "client/src/shown/event_reporter.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace reckoner {

void EventReporter::report_changes() {
  const double shown_s = playout_.shown_s();
  change_fields(shown_s);
  world_.events.review_news([&](std::uint32_t slot) {
    const auto& entity = world_.entities.slots()[slot];
    if (!entity) return false;
    const bool exists = report(*entity, shown_s);
    if (!entity) return false;
    const bool comes_later = !exists || entity->despawned_s || has_jumped(*entity) ||
                             entity->remote.newest().teleports != entity->teleports_reported;
    entity->has_news = comes_later;
    return comes_later;
  });
}

// `depth` counts the frames inside the entity's frame that have asked for it.
bool EventReporter::report(KnownEntity& entity, double shown_s, int depth) {
  if (entity.lacks_fields != 0) return false;
  if (!entity.is_reported && !report_frame(entity, shown_s, depth)) return false;
  if (entity.despawned_s && shown_s >= *entity.despawned_s) {
    world_.remove(static_cast<std::uint32_t>(entity.id.slot()), *entity.despawned_s);
    return false;
  }
  // Shown time can fall behind the spawn again when the delay grows after a silence. A reported entity then
  // stays. An owned entity shows the present in every mode.
  const bool interpolates = playout_.path() == MotionPath::interpolate;
  if (interpolates && !entity.is_reported && !entity.owned && !entity.predicted && shown_s < entity.spawned_s)
    return false;
  const std::uint8_t teleports = entity.remote.teleports(shown_s);
  if (!entity.is_reported) {
    entity.is_reported = true;
    world_.events.add({ClientEvent::Kind::spawned, entity.id, 0, continue_prediction(entity, shown_s)});
    entity.jumps_reported = entity.remote.jumps();
  } else if (teleports != entity.teleports_reported) {
    world_.events.add({ClientEvent::Kind::teleported, entity.id});
  }
  entity.teleports_reported = teleports;
  if (has_jumped(entity) && shown_s >= entity.remote.jumped_s()) {
    entity.jumps_reported = entity.remote.jumps();
    world_.events.add({ClientEvent::Kind::snapped, entity.id});
  }
  if (entity.owned && !entity.ownership_state.is_reported) {
    entity.ownership_state.is_reported = true;
    entity.ownership_state.moved_s = playout_.now_s();
    ++entity.ownership_state.unpolled;
    world_.events.add({ClientEvent::Kind::given, entity.id});
  }
  if (entity.predicted && !entity.prediction_reported) {
    entity.prediction_reported = true;
    world_.events.add({ClientEvent::Kind::prediction_began, entity.id});
  }
  return true;
}

// Reports the entity of the frame that this one is in, because it must be known before. Returns false if it
// has not arrived yet, or does not exist at `shown_s`.
bool EventReporter::report_frame(const KnownEntity& entity, double shown_s, int depth) {
  const FrameId frame = entity.remote.frame(shown_s);
  if (!frame || depth == kMaxFrameDepth) return true;
  const KnownEntity* known = std::as_const(world_.entities).find(entity_of(frame));
  if (known == nullptr) return world_.entities.is_refused(entity_of(frame));
  return known->is_reported || report(*world_.entities.find(known->id), shown_s, depth + 1);
}

void EventReporter::change_fields(double shown_s) {
  constexpr double kNow = std::numeric_limits<double>::infinity();  // everything that has arrived
  const double until_s = playout_.path() == MotionPath::predict ? kNow : shown_s;
  world_.waiting_fields.advance(until_s, world_.entities, [this](KnownEntity& entity, std::uint32_t fields) {
    if (entity.is_reported) world_.events.add({ClientEvent::Kind::fields_changed, entity.id, fields});
    if ((entity.lacks_fields & fields) == 0) return;
    entity.lacks_fields &= ~fields;
    world_.events.note_news(entity);
  });
}

// If the client has predicted the entity, the entity continues from the predicted pose. Returns the id of the
// prediction, or null.
EntityId EventReporter::continue_prediction(KnownEntity& entity, double shown_s) {
  const auto prediction = entity.prediction ? world_.predictions.release(*entity.prediction) : std::nullopt;
  if (!prediction) return {};
  // In buffered modes the prediction is ahead by the delay. Updates that arrive meanwhile must not shorten
  // the return to an ordinary blend, as they do not shorten a catch-up.
  const double delay_s = playout_.seen_s() - shown_s;
  const double blend_s = playout_.blend_s();
  const BlendTime blend = delay_s <= kLongestCatchUpS ? BlendTime{blend_s, delay_s}
                                                      : BlendTime{std::max(blend_s, kLongestCatchUpS)};
  (void)world_.frames.correct(entity, state_at(prediction->motion, playout_.seen_s()), shown_s,
                              playout_.rate(), blend);
  entity.visible = true;
  entity.teleports_shown = entity.remote.teleports(shown_s);
  return prediction->id;
}

void EventReporter::report_end() {
  for (const auto& entity : world_.entities.slots()) {
    if (entity && entity->is_reported) world_.events.add({ClientEvent::Kind::despawned, entity->id});
  }
  for (const Predictions::Prediction& prediction : world_.predictions.all())
    world_.fail_prediction(prediction.id);
}

}  // namespace reckoner
