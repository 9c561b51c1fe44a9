// SPDX-License-Identifier: MIT
#include "client/src/shown/shown_world.hpp"

#include <algorithm>
#include <cstdint>

namespace reckoner {

std::span<const ShownEntity> ShownWorld::shown(const glm::dvec3& origin, double now_s) {
  if (paused()) return frozen_.shown(world_.entities, origin);
  shown_.clear();
  const double shown_s = playout_.shown_s();
  const auto rate = static_cast<float>(playout_.rate());
  reporter_.change_fields(shown_s);
  settle_frames(shown_s);
  for (const auto& slot : world_.entities.slots()) {
    if (!slot) continue;
    KnownEntity& entity = *slot;
    const bool was_visible = entity.visible;
    if (!appear(entity, shown_s)) continue;
    if (auto state = entity.predicted ? show_predicted(entity, was_visible) : std::nullopt) {
      state->position -= origin;
      shown_.push_back({entity.id, *state, predicted_.shown_s(), 0.0, nullptr, {}, *state, &entity.info});
      continue;
    }
    const State local = entity.remote.shown(shown_s);
    const FrameId frame = entity.remote.frame(shown_s);
    const State* in = frame ? world_.frames.at(frame) : nullptr;
    if (frame && in == nullptr) continue;
    State state = in != nullptr ? out_of_frame(*in, local) : local;
    state.position -= origin;
    if (entity.owned) {  // an owned entity shows the present in every mode
      shown_.push_back({entity.id, at_rate(state, rate), now_s, 0.0, nullptr, entity_of(frame),
                        at_rate(local, rate), &entity.info});
      continue;
    }
    shown_.push_back({entity.id, at_rate(state, rate), shown_s, now_s - entity.remote.newest().time_s,
                      entity.remote.route(shown_s), entity_of(frame), at_rate(local, rate), &entity.info});
  }
  for (const Predictions::Prediction& prediction : world_.predictions.all()) {
    State state = state_at(prediction.motion, playout_.seen_s());
    state.position -= origin;
    shown_.push_back({prediction.id, state, playout_.seen_s(), 0.0, nullptr, {}, state, &prediction.info});
  }
  end_picture();
  return shown_;
}

// The state that the playout shows of an entity in the world; nullopt if its frame is not shown.
std::optional<State> ShownWorld::in_world(const KnownEntity& entity) {
  const double shown_s = playout_.shown_s();
  const State local = entity.remote.shown(shown_s);
  const FrameId frame = entity.remote.frame(shown_s);
  const State* in = frame ? world_.frames.at(frame) : nullptr;
  if (frame && in == nullptr) return std::nullopt;
  return in != nullptr ? out_of_frame(*in, local) : local;
}

// The state that the game has computed for the entity; nullopt if it has computed nothing yet. `was_visible`:
// the entity was shown in an earlier picture.
std::optional<State> ShownWorld::show_predicted(KnownEntity& entity, bool was_visible) {
  const bool begins = was_visible && !predicted_.is_shown(entity.id);
  const auto remote = begins ? in_world(entity) : std::nullopt;
  const auto as_remote =
      remote ? std::optional(at_rate(*remote, static_cast<float>(playout_.rate()))) : remote;
  const auto shown = predicted_.show(entity.id, as_remote ? &*as_remote : nullptr, playout_.shown_s());
  entity.prediction_shown = shown.has_value();
  return shown;
}

void ShownWorld::end_picture() {
  predicted_.end_picture();
  last_shown_s_ = playout_.shown_s();
}

// The entity is shown like all others again. It goes on from where the last picture showed it, at the instant
// of that picture: there, both are known.
void ShownWorld::end_prediction(KnownEntity& entity, const PredictedEntities::Predicted& ended) {
  constexpr double kLongestPictureS = 0.25;
  const double since_s = playout_.shown_s() - last_shown_s_;
  const bool is_recent = since_s >= 0.0 && since_s < kLongestPictureS;
  const double from_s = is_recent ? last_shown_s_ : playout_.shown_s();
  const double inputs_s = is_recent ? predicted_.last_shown_s() : predicted_.shown_s();
  const double ahead_s = std::max(0.0, inputs_s - from_s);
  // The server has sent no motions while the client predicted the entity. Until one arrives, the entity goes
  // straight on. The newest motion may arrive again, and must replace this one.
  if (entity.motion_sent <= ended.began) {
    State straight = predicted_.path_at(ended, from_s).value_or(*ended.shown);
    straight.acceleration = glm::vec3{0.0f};
    constexpr double kBeforeS = 1e-4;
    const double stamp_s = entity.remote.newest().time_s - kBeforeS;
    const Motion motion{extrapolate(straight, stamp_s - from_s), stamp_s, ended.teleports};
    entity.remote = RemoteEntity{motion, playout_.path(), world_.blend_policy()};
    entity.jumps_reported = 0;
  }
  // The prediction was better than a motion that is extrapolated this far: their difference need not fade
  // fast.
  constexpr double kShortestFadeS = 0.4;
  const double fade_s =
      std::max({kShortestFadeS, PredictedEntities::time_fade_s(ahead_s), playout_.blend_s()});
  (void)world_.frames.correct_slowly(entity, *ended.shown, from_s, playout_.rate(), fade_s);
}

void ShownWorld::review_predicted() {
  if (!predicted_.take_change()) return;
  for (const auto& ended : predicted_.take_ended()) {
    KnownEntity* entity = world_.entities.find(ended->id);
    if (entity == nullptr || !entity->predicted) continue;
    entity->predicted = entity->prediction_shown = false;
    if (std::exchange(entity->prediction_reported, false))
      world_.events.add({ClientEvent::Kind::prediction_ended, entity->id});
    if (entity->visible && ended->shown) end_prediction(*entity, *ended);
  }
  bool all_known = true;
  for (const auto& one : predicted_.all()) {
    KnownEntity* entity = world_.entities.find(one->id);
    all_known = all_known && entity != nullptr;
    if (entity == nullptr || entity->predicted) continue;
    entity->predicted = true;
    world_.events.note_news(*entity);
  }
  if (!all_known) predicted_.request_review();  // a spawn is on the way
}

ShownPoses ShownWorld::poses(const glm::dvec3& origin) {
  if (paused()) return frozen_.poses(world_.entities, origin);
  EntityStore& entities = world_.entities;
  const double shown_s = playout_.shown_s();
  reporter_.change_fields(shown_s);
  settle_frames(shown_s);
  entities.visit_changed([&](std::uint32_t slot, KnownEntity* entity) {
    batch_.update(slot, entity != nullptr && entity->predicted ? nullptr : entity);
    // An entity in the batch can only appear or teleport when it changes. All others are checked below.
    if (entity != nullptr && batch_.contains(slot)) (void)appear(*entity, shown_s);
  });
  for (const std::uint32_t slot : batch_.unbatched()) {
    const auto& entity = entities.slots()[slot];
    if (!entity || !appear(*entity, shown_s)) continue;
    // The next poses() can take it into the batch.
    if (entity->remote.has_ended_catch_up(shown_s)) entities.at(slot)->remote.drop_ended_catch_up(shown_s);
  }
  batch_.sample(shown_s, entities, world_.frames, origin);
  for (const auto& one : predicted_.all()) {
    KnownEntity* entity = entities.find(one->id);
    const bool was_visible = entity != nullptr && entity->visible;
    if (entity == nullptr || !entity->predicted || !appear(*entity, shown_s)) continue;
    auto state = show_predicted(*entity, was_visible);
    if (!state) state = in_world(*entity);
    if (!state) continue;
    state->position -= origin;
    batch_.append(one->id, state->pose());
  }
  end_picture();
  for (const Predictions::Prediction& prediction : world_.predictions.all()) {
    Pose pose = state_at(prediction.motion, playout_.seen_s()).pose();
    pose.position -= origin;
    batch_.append(prediction.id, pose);
  }
  return {batch_.ids(), batch_.positions(), batch_.orientations(), shown_s};
}

// Reports the events of an entity and marks it as drawn. Returns false if it does not exist at `shown_s`.
bool ShownWorld::appear(KnownEntity& entity, double shown_s) {
  if (!reporter_.report(entity, shown_s)) return false;
  entity.visible = true;
  entity.appeared_s = std::min(entity.appeared_s, shown_s);
  entity.teleports_shown = entity.teleports_reported;
  return true;
}

// Must run before anything is shown at `shown_s`.
void ShownWorld::settle_frames(double shown_s) {
  world_.frames.begin(shown_s);
  if (world_.frames.any() && playout_.path() == MotionPath::interpolate)
    world_.frames.settle(shown_s, playout_.blend_s());
}

CallResult ShownWorld::correct(EntityId id, const State& in_world, double anticipated_s, double one_way_s) {
  KnownEntity* entity = world_.entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->owned) return CallError::owned;
  if (!entity->visible) return CallError::not_shown;
  const bool done = anticipated_s > 0.0 ? hits_.anticipate(*entity, in_world, anticipated_s, one_way_s)
                                        : world_.frames.correct(*entity, in_world, playout_.shown_s(),
                                                                playout_.rate(), playout_.blend_s());
  return done ? CallError::none : CallError::not_shown;  // its frame is not shown
}

void ShownWorld::pause(std::span<const ShownEntity> shown, const glm::dvec3& origin) {
  frozen_.freeze(shown, origin);
  paused_at_s_ = playout_.now_s();
  showing_.note_jump();
}

// Blends every entity from its frozen pose. An entity that stayed in its frame is blended within the frame,
// so that it stays in contact with the ground under it. All other entities are blended in the world. This is
// a second pass, because all frames must have their frozen pose before.
void ShownWorld::go_on() {
  frozen_.thaw();
  Frames& frames = world_.frames;
  const double shown_s = playout_.shown_s();
  const BlendTime blend = catch_up(playout_.now_s() - paused_at_s_);
  frames.begin(shown_s);
  for (const bool crossed : {false, true}) {
    for (const ShownEntity& frozen_entity : frozen_.all()) {
      KnownEntity* entity = world_.entities.find(frozen_entity.id);
      if (entity == nullptr || entity->owned || !entity->visible) continue;
      if (entity->remote.teleports(shown_s) != entity->teleports_shown) continue;
      if (frames.any() && playout_.path() == MotionPath::interpolate && !crossed)
        frames.settle(*entity, shown_s, playout_.blend_s());
      const FrameId frame = entity->remote.frame(shown_s);
      if ((frame != frame_of(frozen_entity.frame)) != crossed) continue;
      const auto local =
          crossed ? frames.converted(frozen_entity.shown, FrameId{}, frame, shown_s) : frozen_entity.local;
      if (local) entity->remote.correct(*local, shown_s, blend);
    }
  }
  world_.events.note_jumps(world_.entities);
  showing_.note_jump();
}

void ShownWorld::blend_over_jump(double before_s, double rate) {
  const double shown_s = playout_.shown_s();
  world_.entities.all_changed();
  world_.frames.jump(before_s, shown_s, rate, catch_up(shown_s - before_s));
  world_.events.note_jumps(world_.entities);
}

void ShownWorld::change_blend() {
  const BlendPolicy policy = world_.blend_policy();
  for (const auto& entity : world_.entities.slots()) {
    if (entity) entity->remote.set_blend_shape(policy.shape);
  }
}

void ShownWorld::change_path() {
  world_.entities.all_changed();
  world_.frames.set_path(playout_.path(), playout_.shown_s(), playout_.blend_s());
  world_.events.note_jumps(world_.entities);
  showing_.note_jump();
}

}  // namespace reckoner
