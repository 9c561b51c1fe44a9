// SPDX-License-Identifier: MIT
#include "client/src/owned_entities.hpp"

#include "client/src/testing/client_observer.hpp"
#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace reckoner {
namespace {

// An owned entity that its game has not moved for this long comes to rest, s. A picture that takes long does
// not count yet.
constexpr double kIdleS = 0.25;

// Time from the start of the brake to rest, s.
constexpr double kBrakeS = 0.5;

// Returns the state of a body that had the state `from` and has braked evenly since then, for `since_s`.
State braked(const State& from, double since_s) {
  const double braking_s = std::min(since_s, kBrakeS);
  const double left = 1.0 - braking_s / kBrakeS;
  State straight = from;
  straight.acceleration = glm::vec3{0.0f};
  State state = extrapolate(straight, braking_s * (1.0 + left) / 2.0);
  state.velocity = from.velocity * static_cast<float>(left);
  state.angular_velocity = from.angular_velocity * static_cast<float>(left);
  if (left > 0.0) state.acceleration = from.velocity * static_cast<float>(-1.0 / kBrakeS);
  return state;
}

}  // namespace

std::optional<Refusal> OwnedEntities::apply(const OwnershipMessage& message) {
  using Change = OwnershipMessage::Change;
  if (session_.world.entities.is_refused(message.entity)) return std::nullopt;
  KnownEntity* entity = session_.world.entities.find(message.entity);
  // The entity ended before its spawn arrived.
  const auto slot = static_cast<std::uint32_t>(message.entity.slot());
  if (entity == nullptr && session_.world.entities.newest_ended(slot) != 0)
    return ++session_.stats.updates_stale, std::nullopt;
  const bool lacks_grant = entity != nullptr && entity->ownership_state.lacks_frame;
  if (lacks_grant && message.change != Change::given && message.change != Change::corrected) {
    entity->ownership_state.lacks_frame = message.change == Change::repeated;
    return ++session_.stats.updates_stale, std::nullopt;
  }
  if (entity == nullptr || (message.change != Change::given && !entity->owned && !lacks_grant))
    return Refusal::unknown_entity;
  if (session_.switches.observer != nullptr)
    session_.switches.observer->ownership(message.entity, message.change);
  switch (message.change) {
    case Change::repeated:
      entity->ownership_state.viewers_s = message.viewers_s;
      session_.link.owned().find(message.entity)->request_resend();
      return std::nullopt;
    case Change::revoked:
      revoke(*entity);
      return std::nullopt;
    case Change::given:
    case Change::corrected:
      break;
  }
  return grant(*entity, message);
}

// The server has given the entity to this client, or has corrected its motion.
std::optional<Refusal> OwnedEntities::grant(KnownEntity& entity, const OwnershipMessage& message) {
  OwnershipState& ownership_state = entity.ownership_state;
  const double shown_s = instant_s(entity);
  const Quantisation& q = *session_.world.formats.quantisation(entity.info.archetype);
  if (message.orientation_bits != q.orientation_bits) return Refusal::beyond_limits;
  if (session_.link.clock().is_far_ahead(message.motion_tick)) return Refusal::from_future;
  const auto motion = motion_of(message.state, session_.link.clock().time_of(message.motion_tick), q,
                                session_.world.formats.routes());
  if (!motion) return refusal_for(message.state, session_.world.formats.routes());
  if (motion->route != nullptr) return Refusal::unexpected;
  if (!can_live_in(motion->frame, message.entity)) {
    // The frame's entity ended before its spawn arrived. A correction with another frame follows.
    const auto frame_slot = static_cast<std::uint32_t>(entity_of(motion->frame).slot());
    if (entity.owned || session_.world.entities.newest_ended(frame_slot) == 0) return Refusal::unknown_frame;
    ownership_state.lacks_frame = true;
    return ++session_.stats.updates_stale, std::nullopt;
  }
  ownership_state.lacks_frame = false;
  // No other motion follows while this client owns the entity.
  if (!can_live_in(entity.remote.newest().frame, message.entity)) {
    entity.remote = RemoteEntity{*motion, session_.playout.path(), session_.world.blend_policy()};
    session_.world.frames.note(static_cast<std::uint32_t>(message.entity.slot()), *motion);
  }
  ownership_state.viewers_s = message.viewers_s;
  if (OwnedEntity* known = session_.link.owned().find(message.entity)) {
    known->restart(message.term, *motion);
  } else if (session_.link.owned().size() == OwnedSection::kMax) {
    return Refusal::too_many;
  } else {
    session_.link.owned().add(
        message.entity,
        OwnedEntity{session_.config.archetypes[entity.info.archetype], q, session_.link.clock().tick_clock(),
                    session_.config.owned_updates_per_second, message.term, *motion});
    ownership_state.unpolled = 0;
    ownership_state.is_reported = false;
    entity.remote.set_path(MotionPath::predict, shown_s, session_.playout.blend_s());
  }
  entity.owned = true;
  ownership_state.go_on = *motion;
  ownership_state.given_s = motion->time_s;
  ownership_state.from_server.reset();
  ownership_state.moved = false;
  ownership_state.moved_s = session_.playout.now_s();
  ownership_state.brake.reset();
  const bool corrected = message.change == OwnershipMessage::Change::corrected;
  session_.stats.corrections += corrected ? 1 : 0;
  if (corrected)
    say(session_.config.log, LogLevel::warning, "corrected",
        {{"slot", std::uint64_t{message.entity.slot()}}});
  // A grant may arrive before the client can show the entity. The game gets the `given` event when owned()
  // and move() work. It then continues from the newest state, so it needs no event for a correction before
  // that.
  if (!ownership_state.is_reported) {
    session_.world.events.note_news(entity);
    return std::nullopt;
  }
  ++ownership_state.unpolled;
  session_.world.events.add(
      {corrected ? ClientEvent::Kind::corrected : ClientEvent::Kind::given, message.entity});
  return std::nullopt;
}

void OwnedEntities::revoke(KnownEntity& entity) {
  const double shown_s = instant_s(entity);
  const State before = entity.remote.shown(shown_s);
  // Until the server sends a motion, the entity continues straight on. The time stamp is that of the last
  // `given` or `corrected` message, so every later motion of the server counts as newer and replaces it.
  State straight = before;
  straight.acceleration = glm::vec3{0.0f};
  const double given_s = entity.ownership_state.given_s;
  Motion last{extrapolate(straight, given_s - shown_s), given_s, entity.remote.newest().teleports};
  last.frame = entity.remote.frame(shown_s);
  entity.remote = RemoteEntity{last, session_.playout.path(), session_.world.blend_policy()};
  entity.jumps_reported = 0;
  entity.remote.correct(before, shown_s, session_.playout.blend_s());
  entity.owned = false;
  session_.link.owned().remove(entity.id);
  if (entity.ownership_state.is_reported) session_.world.events.add({ClientEvent::Kind::revoked, entity.id});
}

std::optional<Motion> OwnedEntities::take_kept(KnownEntity& entity) const {
  if (entity.owned) return std::nullopt;
  const auto kept = std::exchange(entity.ownership_state.from_server, std::nullopt);
  return kept && can_live_in(kept->frame, entity.id) ? kept : std::nullopt;
}

void OwnedEntities::note_polled(const ClientEvent& event) {
  if (event.kind != ClientEvent::Kind::given && event.kind != ClientEvent::Kind::corrected) return;
  KnownEntity* entity = session_.world.entities.find(event.entity);
  if (entity != nullptr && entity->ownership_state.unpolled > 0) --entity->ownership_state.unpolled;
}

CallResult OwnedEntities::move(EntityId id, const State& counted, EntityId frame, double local_s,
                               bool teleports) {
  KnownEntity* entity = session_.world.entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->owned) return CallError::not_owned;
  if (!session_.link.clock().ready()) return CallError::no_clock;
  if (!entity->ownership_state.is_reported || entity->ownership_state.unpolled > 0)
    return CallError::event_not_polled;
  OwnedEntity& own = *session_.link.owned().find(id);
  const double delay_s = session_.link.one_way_s() + entity->ownership_state.viewers_s;
  const double shown_s = session_.playout.shown_s();
  if (frame && !session_.world.frames.can_enter(frame_of(frame), id, shown_s))
    return CallError::unknown_frame;
  OwnershipState& owned = entity->ownership_state;
  if (owned.brake && !owned.brake->game_is_back) {
    owned.brake->game_is_back = true;
    ++owned.unpolled;
    session_.world.events.add({ClientEvent::Kind::corrected, id});
    return CallError::event_not_polled;
  }
  if (owned.brake) {
    owned.brake.reset();
    own.interrupt();
    owned.moved = false;  // blends from where the entity came to rest
  }
  owned.moved_s = session_.link.clock().server_time_s(local_s);
  const Quantisation& quantisation = *session_.world.formats.quantisation(entity->info.archetype);
  Motion motion{.state = counted,
                .time_s = shown_s,
                .floor = quantisation.floor,
                .walls = quantisation.walls,
                .frame = frame_of(frame)};
  if (!own.move(motion.state, motion.frame, session_.link.clock().server_time_s(local_s), delay_s, teleports))
    return find_unencodable(counted, quantisation);
  velocities_.note(session_.config.log, session_.config.archetypes, entity->info.archetype,
                   own.missing_velocities());
  motion.teleports = own.teleports();
  show(*entity, motion);
  return {};
}

void OwnedEntities::brake_idle(double now_s, bool paused) {
  if (session_.link.owned().empty()) return;
  for (std::uint32_t slot = 0; slot < session_.world.entities.slots().size(); ++slot) {
    const auto& known = session_.world.entities.slots()[slot];
    if (!known || !known->owned || !known->ownership_state.is_reported) continue;
    if (paused || now_s - known->ownership_state.moved_s > kIdleS)
      brake(*session_.world.entities.at(slot), now_s);
  }
}

void OwnedEntities::brake(KnownEntity& entity, double now_s) {
  OwnershipState& owned = entity.ownership_state;
  OwnedEntity& own = *session_.link.owned().find(entity.id);
  if (!owned.brake) owned.brake = {state_at(own.last(), now_s), own.last().frame, now_s};
  const Floor* floor = floor_of(own.last());
  State state = braked(owned.brake->from, now_s - owned.brake->begin_s);
  if (floor != nullptr) state = above_floor(state, *floor);
  const Walls* walls = walls_of(own.last());
  if (walls != nullptr) state = stopped_by_walls(state, *walls, owned.brake->from.position);
  if (!own.move(state, owned.brake->frame, now_s, session_.link.one_way_s() + owned.viewers_s)) return;
  owned.go_on = own.last();
  Motion motion{
      .state = state, .time_s = session_.playout.shown_s(), .teleports = own.teleports(), .floor = floor};
  motion.walls = walls;
  motion.frame = owned.brake->frame;
  show(entity, motion);
}

// Shows `motion` of an owned entity from now on. The first call after a grant or a correction blends from the
// pose shown before.
void OwnedEntities::show(KnownEntity& entity, const Motion& motion) {
  const double shown_s = motion.time_s;
  const bool snaps = motion.teleports != entity.remote.newest().teleports || !entity.visible;
  if (entity.ownership_state.moved || snaps) {
    ShownBlends blends = entity.remote.blends();
    if (snaps || blends.frame != motion.frame)  // the owner's game decides how it changes frames
      blends = {.teleports = motion.teleports,
                .frame = motion.frame,
                .gentle_until_s = blends.gentle_until_s,
                .lever_m = blends.lever_m};
    entity.remote = RemoteEntity{{&motion, 1}, MotionPath::predict, blends, session_.world.blend_policy()};
    entity.jumps_reported = entity.remote.jumps();
  } else {
    const State last = entity.remote.shown(shown_s);
    const auto before =
        session_.world.frames.converted(last, entity.remote.frame(shown_s), motion.frame, shown_s);
    const double behind_s = std::min(session_.playout.delay_s(), kLongestCatchUpS);
    entity.remote = RemoteEntity{motion, MotionPath::predict, session_.world.blend_policy()};
    entity.jumps_reported = 0;
    if (before) entity.remote.correct(*before, shown_s, std::max(session_.playout.blend_s(), behind_s));
  }
  entity.frame_shown = motion.frame;
  session_.world.frames.note(static_cast<std::uint32_t>(entity.id.slot()), motion);
  entity.ownership_state.moved = true;
  if (motion.teleports != entity.teleports_reported) session_.world.events.note_news(entity);
}

// True if `frame` is null (the world) or belongs to a known entity other than `id`.
bool OwnedEntities::can_live_in(FrameId frame, EntityId id) const {
  return !frame ||
         (frame != frame_of(id) && std::as_const(session_.world.entities).find(entity_of(frame)) != nullptr);
}

// The instant that is shown. Before the clock is ready, nothing is shown. Then this is the time of the oldest
// known motion of the entity, so that all its motions count as future ones.
double OwnedEntities::instant_s(const KnownEntity& entity) const {
  return session_.playout.started() ? session_.playout.shown_s() : entity.remote.oldest().time_s;
}

}  // namespace reckoner
