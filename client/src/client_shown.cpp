// SPDX-License-Identifier: MIT
// What is shown of a world.
#include "client_world.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace reckoner {

std::span<const ShownEntity> ClientWorld::frame(const glm::dvec3& origin, double local_s) {
  if (frozen_.active()) return frozen_.shown(entities, origin);
  shown_.clear();
  const double now_s = link.server_time_s(local_s);
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
    if (entity.owned) {  // it is the present, whatever is shown of others
      shown_.push_back(
          {entity.id, at_rate(state, rate), now_s, 0.0, nullptr, entity_of(frame), at_rate(local, rate)});
      continue;
    }
    shown_.push_back({entity.id, at_rate(state, rate), shown_s, now_s - entity.remote.newest().time_s,
                      entity.remote.route(shown_s), entity_of(frame), at_rate(local, rate)});
  }
  return shown_;
}

ShownPoses ClientWorld::sample(const glm::dvec3& origin) {
  if (frozen_.active()) return frozen_.poses(entities, origin);
  const double shown_s = playout.shown_s();
  change_fields(shown_s);
  settle_frames(shown_s);
  entities.visit_changed([&](std::uint32_t slot, KnownEntity* entity) {
    batch_.update(slot, entity);
    // What is in the batch appears or jumps by a change only; the others, below, in their own time.
    if (entity != nullptr && batch_.holds(slot)) (void)appear(*entity, shown_s);
  });
  for (const std::uint32_t slot : batch_.alone()) {
    if (const auto& entity = entities.slots()[slot]) (void)appear(*entity, shown_s);
  }
  batch_.sample(shown_s, entities, frames, origin);
  return {batch_.ids(), batch_.positions(), batch_.orientations(), shown_s};
}

bool ClientWorld::correct(EntityId id, const State& in_world) {
  KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->visible || entity->owned) return false;
  // Blends run in shown time.
  const auto per_shown_second = static_cast<float>(1.0 / playout.rate());
  State in_shown_time = in_world;
  in_shown_time.velocity *= per_shown_second;
  in_shown_time.angular_velocity *= per_shown_second;
  const double shown_s = playout.shown_s();
  const auto local = frames.carried(in_shown_time, FrameId{}, entity->remote.frame(shown_s), shown_s);
  if (!local) return false;
  entity->remote.correct(*local, shown_s, blend_s());
  return true;
}

bool ClientWorld::move(EntityId id, const State& counted, EntityId frame, double local_s) {
  KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->owned || entity->possession.unpolled > 0 || !link.clock_ready())
    return false;
  OwnedEntity& own = *link.owned().find(id);
  const double delay_s = link.owned().one_way_s() + entity->possession.viewers_s;
  const double shown_s = playout.shown_s();
  if (frame && !frames.can_hold(frame_of(frame), id, shown_s)) return false;
  Motion motion{.state = counted, .time_s = shown_s, .frame = frame_of(frame)};
  if (!own.move(motion.state, motion.frame, link.server_time_s(local_s), delay_s)) return false;
  motion.teleports = own.teleports();
  show_own(*entity, motion);
  return true;
}

void ClientWorld::pause(std::span<const ShownEntity> shown, const glm::dvec3& origin) {
  frozen_.freeze(shown, origin);
  paused_at_s_ = playout.now_s();
  link.note_jump();
}

// What stood still goes on from where it stood. Whoever has stayed in his frame does so there, so that he
// stays with what he stands on; the others in the world, when all frames stand where they stood.
void ClientWorld::go_on() {
  frozen_.thaw();
  const double shown_s = playout.shown_s();
  const double duration_s = catch_up_s(playout.now_s() - paused_at_s_);
  frames.begin(shown_s);
  for (const bool crossed : {false, true}) {
    for (const ShownEntity& frozen_entity : frozen_.all()) {
      KnownEntity* entity = entities.find(frozen_entity.id);
      if (entity == nullptr || entity->owned || !entity->visible) continue;
      if (entity->remote.teleports(shown_s) != entity->teleports_shown) continue;
      if (frames.any() && path_ == Path::interpolate && !crossed) frames.settle(*entity, shown_s, blend_s());
      const FrameId frame = entity->remote.frame(shown_s);
      if ((frame != frame_of(frozen_entity.frame)) != crossed) continue;
      const auto local =
          crossed ? frames.carried(frozen_entity.shown, FrameId{}, frame, shown_s) : frozen_entity.local;
      if (local) entity->remote.correct(*local, shown_s, duration_s);
    }
  }
  link.note_jump();
}

void ClientWorld::end() {
  for (const auto& entity : entities.slots()) {
    if (entity && entity->visible) events.push_back({ClientEvent::Kind::despawned, entity->id});
  }
}

// Says what has become of an entity by the instant that is shown; false if it is not to be seen at it.
bool ClientWorld::appear(KnownEntity& entity, double shown_s) {
  if (entity.despawned_s && shown_s >= *entity.despawned_s) {
    remove(static_cast<std::uint32_t>(entity.id.slot()), *entity.despawned_s);
    return false;
  }
  // Shown time can fall behind the spawn again when the delay grows after a silence; what is there stays.
  if (path_ == Path::interpolate && !entity.visible && shown_s < entity.spawned_s) return false;
  const std::uint8_t teleports = entity.remote.teleports(shown_s);
  if (!entity.visible) {
    entity.visible = true;
    events.push_back({ClientEvent::Kind::spawned, entity.id});
  } else if (teleports != entity.teleports_shown) {
    events.push_back({ClientEvent::Kind::teleported, entity.id});
  }
  entity.teleports_shown = teleports;
  return true;
}

// What lived in its frame is told of as of `ended_s`, so that what is made up for it is older.
void ClientWorld::remove(std::uint32_t slot, double ended_s) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->visible) events.push_back({ClientEvent::Kind::despawned, entity->id});
  link.owned().remove(entity->id);
  constexpr double kBeforeS = 1e-4;
  if (frames.any()) frames.release(*entity, ended_s - kBeforeS, playout.shown_s(), blend_s());
  entities.remove(slot);
}

// Before anything is shown at `shown_s`.
void ClientWorld::settle_frames(double shown_s) {
  frames.begin(shown_s);
  if (frames.any() && path_ == Path::interpolate) frames.settle(shown_s, blend_s());
}

// Before anything appears: what changed by then, it appears with.
void ClientWorld::change_fields(double shown_s) {
  constexpr double kNow = std::numeric_limits<double>::infinity();  // whatever has arrived
  const double until_s = path_ == Path::predict ? kNow : shown_s;
  waiting_fields_.advance(until_s, entities, [this](const KnownEntity& entity, std::uint32_t fields) {
    if (entity.visible) events.push_back({ClientEvent::Kind::fields_changed, entity.id, fields});
  });
}

void ClientWorld::advance(double local_s) {
  const bool stepped = link.advance(local_s);
  if (!link.clock_ready()) return;
  const double now_s = link.server_time_s(local_s);
  const double before_s = playout.shown_s();
  const double rate = playout.rate();
  const double stepped_by_s = now_s - playout.now_s();
  if (playout.advance(now_s, stepped)) {
    link.note_jump();
    blend_over_jump(before_s, rate);
  }
  review_path();
  if (stepped) {
    holds.clock_stepped(stepped_by_s);
    say(config.log, LogLevel::warning, "clock stepped", {{"by_s", stepped_by_s}});
  }
  if (some_fade_ || holds.passed(playout.shown_s())) review_holds(before_s);
  stats.delay_s = playout.delay_s();
  if (!retired_) mail.release(playout.shown_s());
}

void ClientWorld::set_playout(const PlayoutConfig& to) {
  const double blended_s = blend_s();
  config.playout = to;
  playout.change(to);
  if (blend_s() != blended_s) link.note_jump();  // from now on the server has to reckon with that
  review_path();
}

// To the past at once, while its delay is as yet nothing, and back when nothing is left of the delay: there,
// what is shown comes from the newest motion in either way.
void ClientWorld::review_path() {
  if (path_ == wanted_path()) return;
  if (wanted_path() == Path::predict && !playout.settled()) return;
  path_ = wanted_path();
  entities.all_changed();
  frames.set_path(path_, playout.shown_s(), blend_s());
  link.note_jump();
}

void ClientWorld::note_arrival(double local_s) {
  if (link.clock_known()) holds.note_arrival(link.arrival_s(local_s));
}

// Has those entities fade whose motion may no longer hold, and those go on whose motion does after all.
// Nobody has seen anything later than `before_s` yet.
void ClientWorld::review_holds(double before_s) {
  const double shown_s = playout.shown_s();
  bool go_on = false;
  some_fade_ = false;
  for (std::uint32_t slot = 0; slot < entities.slots().size(); ++slot) {
    const KnownEntity* known = entities.slots()[slot].get();
    if (known == nullptr || known->owned) continue;  // of its own the client needs no word
    const double motion_s = known->remote.newest().time_s;
    const double limit_s = known->remote.holds_until_s();
    if (limit_s == kHoldsForever && shown_s > holds.of(motion_s)) {
      entities.at(slot)->remote.hold_until(std::max(holds.of(motion_s), before_s), before_s, blend_s());
      some_fade_ = true;
    } else if (limit_s != kHoldsForever && holds.holds_again(motion_s, limit_s, shown_s)) {
      entities.at(slot)->remote.hold_until(kHoldsForever, shown_s, catch_up_s(shown_s - limit_s));
      go_on = true;
    } else {
      some_fade_ = some_fade_ || limit_s != kHoldsForever;
    }
  }
  if (go_on) link.note_jump();  // how it was done, the server cannot find out
}

void ClientWorld::blend_over_jump(double before_s, double rate) {
  const double duration_s = catch_up_s(playout.shown_s() - before_s);
  entities.all_changed();
  frames.jump(before_s, playout.shown_s(), rate, duration_s);
}

}  // namespace reckoner
