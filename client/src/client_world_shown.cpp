// SPDX-License-Identifier: MIT
#include "client/src/client_world.hpp"
#include "client/src/ownership/known_motion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner {

void ClientWorld::advance(double local_s) {
  const bool stepped = link.clock().advance(local_s);
  if (!link.clock().ready()) return;
  const double now_s = link.clock().server_time_s(local_s);
  const double show_s = now_s + config.show_ahead_s;
  const bool first = !playout.started();
  double before_s = playout.shown_s();
  const double rate = playout.rate();
  const double stepped_by_s = show_s - playout.now_s();
  const bool jumped = playout.advance(show_s, stepped);
  if (first) before_s = playout.shown_s();  // nothing was shown before
  if (jumped) {
    link.showing().note_jump();
    if (steps_in_a_row_.add(local_s, stepped ? stepped_by_s : 0.0)) {
      events.note_jumps(entities);
    } else {
      blend_over_jump(before_s, rate);
    }
  }
  review_path();
  if (hits_.any()) hits_.review(blend_s());
  if (stepped) {
    fades.limit().clock_stepped(stepped_by_s);
    if (switches.observer != nullptr) switches.observer->clock_stepped(stepped_by_s);
    say(config.log, LogLevel::warning, "clock stepped", {{"by_s", stepped_by_s}});
  }
  // The server cannot reconstruct how a fade ends.
  if (fades.review(playout.shown_s(), before_s, blend_s())) link.showing().note_jump();
  owned.brake_idle(now_s, paused());
  while (const EntityId late = predictions.expire(now_s))
    fail_prediction(late);
  stats.delay_s = playout.delay_s() - config.show_ahead_s;
  if (!retired_) messages.release(playout.shown_s());
}

void ClientWorld::set_playout(const PlayoutConfig& to) {
  const double blended_s = blend_s();
  config.playout = to;
  playout.change(to);
  if (blend_s() != blended_s)
    link.showing().note_jump();  // the server must use the new blend for lag compensation
  review_path();
}

// Changes to interpolation at once, while the delay is still zero. Changes back to prediction only when the
// delay has reached zero again. At zero delay both show the pose from the newest motion.
void ClientWorld::review_path() {
  if (path_ == wanted_path()) return;
  if (wanted_path() == MotionPath::predict && !playout.settled()) return;
  path_ = wanted_path();
  entities.all_changed();
  frames.set_path(path_, playout.shown_s(), blend_s());
  events.note_jumps(entities);
  link.showing().note_jump();
}

void ClientWorld::blend_over_jump(double before_s, double rate) {
  entities.all_changed();
  frames.jump(before_s, playout.shown_s(), rate, catch_up(playout.shown_s() - before_s));
  events.note_jumps(entities);
}

std::span<const ShownEntity> ClientWorld::shown(const glm::dvec3& origin, double local_s) {
  if (frozen_.active()) return frozen_.shown(entities, origin);
  shown_.clear();
  const double now_s = link.clock().server_time_s(local_s) + config.show_ahead_s;
  const double shown_s = playout.shown_s();
  const auto rate = static_cast<float>(playout.rate());
  change_fields(shown_s);
  settle_frames(shown_s);
  for (const auto& slot : entities.slots()) {
    if (!slot) continue;
    KnownEntity& entity = *slot;
    if (!appear(entity, shown_s)) continue;
    const State local = entity.remote.shown(shown_s);
    const FrameId frame = entity.remote.frame(shown_s);
    const State* in = frame ? frames.at(frame) : nullptr;
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
  for (const Predictions::Prediction& prediction : predictions.all()) {
    State state = state_at(prediction.motion, now_s);
    state.position -= origin;
    shown_.push_back({prediction.id, state, now_s, 0.0, nullptr, {}, state, &prediction.info});
  }
  return shown_;
}

ShownPoses ClientWorld::shown_poses(const glm::dvec3& origin) {
  if (frozen_.active()) return frozen_.poses(entities, origin);
  const double shown_s = playout.shown_s();
  change_fields(shown_s);
  settle_frames(shown_s);
  entities.visit_changed([&](std::uint32_t slot, KnownEntity* entity) {
    batch_.update(slot, entity);
    // An entity in the batch can only appear or teleport when it changes. All others are checked below.
    if (entity != nullptr && batch_.holds(slot)) (void)appear(*entity, shown_s);
  });
  for (const std::uint32_t slot : batch_.unbatched()) {
    const auto& entity = entities.slots()[slot];
    if (!entity || !appear(*entity, shown_s)) continue;
    // The next shown_poses() can take it into the batch.
    if (entity->remote.has_ended_catch_up(shown_s)) entities.at(slot)->remote.drop_ended_catch_up(shown_s);
  }
  batch_.sample(shown_s, entities, frames, origin);
  for (const Predictions::Prediction& prediction : predictions.all()) {
    Pose pose = state_at(prediction.motion, playout.now_s()).pose();
    pose.position -= origin;
    batch_.append(prediction.id, pose);
  }
  return {batch_.ids(), batch_.positions(), batch_.orientations(), shown_s};
}

// Reports the events of an entity and marks it as drawn. Returns false if it does not exist at `shown_s`.
bool ClientWorld::appear(KnownEntity& entity, double shown_s) {
  if (!report(entity, shown_s)) return false;
  entity.visible = true;
  entity.appeared_s = std::min(entity.appeared_s, shown_s);
  entity.teleports_shown = entity.teleports_reported;
  return true;
}

// Must run before anything is shown at `shown_s`.
void ClientWorld::settle_frames(double shown_s) {
  frames.begin(shown_s);
  if (frames.any() && path_ == MotionPath::interpolate) frames.settle(shown_s, blend_s());
}

void ClientWorld::pause(std::span<const ShownEntity> shown, const glm::dvec3& origin) {
  frozen_.freeze(shown, origin);
  paused_at_s_ = playout.now_s();
  link.showing().note_jump();
}

// Blends every entity from its frozen pose. An entity that stayed in its frame is blended within the frame,
// so that it stays in contact with the ground under it. All other entities are blended in the world. This is
// a second pass, because all frames must have their frozen pose before.
void ClientWorld::go_on() {
  frozen_.thaw();
  const double shown_s = playout.shown_s();
  const BlendTime blend = catch_up(playout.now_s() - paused_at_s_);
  frames.begin(shown_s);
  for (const bool crossed : {false, true}) {
    for (const ShownEntity& frozen_entity : frozen_.all()) {
      KnownEntity* entity = entities.find(frozen_entity.id);
      if (entity == nullptr || entity->owned || !entity->visible) continue;
      if (entity->remote.teleports(shown_s) != entity->teleports_shown) continue;
      if (frames.any() && path_ == MotionPath::interpolate && !crossed)
        frames.settle(*entity, shown_s, blend_s());
      const FrameId frame = entity->remote.frame(shown_s);
      if ((frame != frame_of(frozen_entity.frame)) != crossed) continue;
      const auto local =
          crossed ? frames.converted(frozen_entity.shown, FrameId{}, frame, shown_s) : frozen_entity.local;
      if (local) entity->remote.correct(*local, shown_s, blend);
    }
  }
  events.note_jumps(entities);
  link.showing().note_jump();
}

bool ClientWorld::correct(EntityId id, const State& in_world, double hold_s) {
  KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->visible || entity->owned) return false;
  if (!(hold_s > 0.0)) return blend_from_world(*entity, in_world, blend_s());
  const double one_way_s = std::max(link.one_way_s(), 0.5 * stats.round_trip_s);
  return hits_.hold(*entity, in_world, hold_s, one_way_s);
}

// Blends an entity from a state in the world onto its motion. Returns false if its frame is invalid.
bool ClientWorld::blend_from_world(KnownEntity& entity, const State& in_world, BlendTime blend) {
  // Blends run in shown time, so convert rates per second to rates per second of shown time.
  const auto per_shown_second = static_cast<float>(1.0 / playout.rate());
  State in_shown_time = in_world;
  in_shown_time.velocity *= per_shown_second;
  in_shown_time.angular_velocity *= per_shown_second;
  const double shown_s = playout.shown_s();
  const auto local = frames.converted(in_shown_time, FrameId{}, entity.remote.frame(shown_s), shown_s);
  if (!local) return false;
  entity.remote.correct(*local, shown_s, blend);
  return true;
}

std::optional<State> ClientWorld::motion_at(EntityId id, double time_s) const {
  if (const Predictions::Prediction* prediction = predictions.find(id)) {
    const bool is_known = std::isfinite(time_s) && time_s >= prediction->motion.time_s;
    return is_known ? std::optional(state_at(prediction->motion, time_s)) : std::nullopt;
  }
  const KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->visible) return std::nullopt;
  return known_motion(entities, link.owned(), id, time_s);
}

SpawnResult ClientWorld::predict_spawn(std::size_t archetype, const State& counted, std::uint32_t key,
                                       double patience_s) {
  const Quantisation* q = link.formats().quantisation(archetype);
  if (q == nullptr) return CallError::unknown_archetype;
  if (!link.clock().ready()) return CallError::no_clock;
  if (const auto why = find_unencodable(counted, *q); why != CallError::none) return why;
  const double now_s = playout.now_s();
  const double until_s = now_s + (std::isfinite(patience_s) ? std::clamp(patience_s, 0.0, 60.0) : 0.0);
  const Motion motion{.state = counted, .time_s = now_s, .floor = q->floor, .walls = q->walls};
  const EntityId id = predictions.add(key, archetype, motion, until_s);
  if (!id) return CallError::world_full;
  return id;
}

bool ClientWorld::drop_prediction(EntityId id) {
  return predictions.release(id).has_value();
}

}  // namespace reckoner
