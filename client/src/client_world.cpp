// SPDX-License-Identifier: MIT
#include "client/src/client_world.hpp"

#include "client/src/connection/decode.hpp"
#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace reckoner {

bool ClientWorld::begin(const WelcomeMessage& message, double local_s) {
  if (!link.begin(message, config.archetypes, local_s)) return false;
  joined_s_ = link.clock().time_of(message.tick);
  playout.expect_gaps(message.longest_gap_s, 1.0 / message.tick_rate_hz);
  if (switches.observer != nullptr)
    switches.observer->joined({message.client, message.tick_rate_hz, message.epoch_s});
  return true;
}

bool ClientWorld::can_replace(double local_s) {
  constexpr double kRelevanceS = 0.4;  // by then, the server has decided what is relevant
  constexpr double kLongestWaitS = 1.0;
  if (!link.clock().ready()) return false;
  if (!clock_ready_s_) clock_ready_s_ = local_s;
  return link.complete_s() > joined_s_ + kRelevanceS || local_s > *clock_ready_s_ + kLongestWaitS;
}

std::optional<Refusal> ClientWorld::apply(const ReliableMessage& message) {
  if (std::holds_alternative<AfterSpawnsMessage>(message)) return std::nullopt;  // OrderedMessages has waited
  if (const auto* r = std::get_if<RouteMessage>(&message)) {
    return link.formats().add_route(*r) ? std::nullopt : std::optional{Refusal::unknown_route};
  }
  if (const auto* o = std::get_if<OwnershipMessage>(&message)) return apply(*o);
  const auto* m = std::get_if<GameDataMessage>(&message);
  if (m == nullptr) return Refusal::unexpected;
  messages.deliver(m->payload, m->time_s, stats);
  return std::nullopt;
}

void ClientWorld::receive(std::span<const std::byte> payload, double local_s, double arrived_s) {
  auto why = decode(payload, link.context(entities), datagram_);
  if (!why) why = link.accept(datagram_, payload.size(), local_s, arrived_s);
  if (why) return link.count_refusal(*why);
  if (switches.observer != nullptr) {
    switches.observer->datagram({datagram_.header.sequence, datagram_.tick,
                                 link.clock().time_of(datagram_.tick),
                                 link.clock().time_of(datagram_.complete), arrived_s});
  }
  apply(datagram_, local_s);
}

std::optional<Refusal> ClientWorld::apply(const OwnershipMessage& message) {
  const auto why = owned.apply(message, path_);
  KnownEntity* entity = entities.find(message.entity);
  if (entity == nullptr) return why;
  if (const auto motion = owned.take_kept(*entity)) (void)blend_onto(*entity, *motion);
  return why;
}

void ClientWorld::note_arrival(double local_s) {
  if (link.clock().known()) fades.limit().note_arrival(link.clock().arrival_s(local_s));
}

void ClientWorld::apply(DecodedDatagram& datagram, double local_s) {
  note_arrival(local_s);
  advance(local_s);
  if (link.clock().ready()) link.showing().note_applied(datagram.header.sequence, playout.shown_s());
  // A datagram that another one has overtaken brings no newer motions.
  const bool newest = !newest_datagram_ || datagram.tick > *newest_datagram_;
  if (newest) newest_datagram_ = datagram.tick;
  const bool is_timed = newest && !datagram.header.has_only_reliable();
  if (is_timed && link.clock().known() && !link.clock().is_backlog())
    playout.note_datagram(link.clock().server_time_s(local_s) - link.clock().time_of(datagram.tick));
  for (EntityChange& change : datagram.entity_changes) {
    if (auto* entity = std::get_if<NewEntity>(&change)) {
      apply(*entity, datagram.tick);
    } else if (const auto* ended = std::get_if<EndedEntity>(&change)) {
      apply(*ended);
    } else if (const auto refused = predictions.release(std::get<PredictionRefusal>(change).key)) {
      fail_prediction(refused->id);
    }
  }
  apply(datagram.motions, datagram.tick, local_s);
  // Only now: an old motion that this datagram replaces must not hold again before.
  if (const auto complete_s = link.complete_s()) fades.limit().note_complete(*complete_s);
  apply(datagram.fields);
  messages.deliver(datagram.messages, stats);
}

// Adds an entity with its first motion, in place of an earlier entity in its slot.
KnownEntity& ClientWorld::introduce(KnownEntity entity, std::uint8_t level, Tick motion_tick,
                                    const QuantisedState& encoded) {
  const EntityId id = entity.id;
  const auto slot = static_cast<std::uint32_t>(id.slot());
  remove(slot, link.clock().time_of(entity.announced));
  entities.put(std::move(entity));
  KnownEntity& added = *entities.find(id);
  if (playout.started()) added.appeared_s = applied_s();
  frames.note(slot, added.remote.newest());
  frames.note_arrival(added);
  events.note_news(added);
  limit_unseen(added);
  entities.references(slot)->note(level, motion_tick, encoded);
  if (switches.observer != nullptr) {
    const Motion& motion = added.remote.newest();
    switches.observer->arrival({.entity = id,
                                .announced = true,
                                .fresh = true,
                                .applied = true,
                                .level = level,
                                .sent_s = link.clock().time_of(added.announced),
                                .motion = motion,
                                .previous = motion,
                                .before = motion.state,
                                .after = motion.state,
                                .shown_s = playout.shown_s()});
  }
  return added;
}

// A further spawn of a known entity contains a newer motion, or is a copy.
void ClientWorld::renew(KnownEntity& known, Tick sent, std::uint8_t level, Tick motion_tick,
                        const QuantisedState& encoded, const Motion& motion) {
  entities.references(static_cast<std::uint32_t>(known.id.slot()))->note(level, motion_tick, encoded);
  if (known.owned) owned.keep(known, motion);
  if (known.owned || motion.time_s < known.spawned_s || entities.is_refused(entity_of(motion.frame)) ||
      !apply_motion(known, motion, {true, level, sent})) {
    ++stats.updates_stale;
    return;
  }
  ++stats.updates_applied;
  if (!known.visible) limit_unseen(known);
}

// True if the client may keep a new entity in this frame. It may take the place of an earlier entity in its
// slot.
bool ClientWorld::has_room_for(EntityId id, FrameId frame) const {
  const bool replaces = id.slot() < entities.slots().size() && entities.slots()[id.slot()];
  return (replaces || entities.size() < config.max_entities) && !entities.is_refused(entity_of(frame));
}

// Does not keep a new entity. The server will send motions of it, which the client must be able to read,
// because they travel with those of other entities.
void ClientWorld::refuse(EntityId id, std::size_t archetype, std::uint8_t level, Tick motion_tick,
                         const QuantisedState& encoded) {
  const auto slot = static_cast<std::uint32_t>(id.slot());
  if (slot < entities.slots().size() && entities.slots()[slot])
    remove(slot, link.clock().time_of(motion_tick));  // the server has reused the slot
  const bool is_known = entities.is_refused(id);      // this is a copy, or a newer motion
  entities.note_refused(id, archetype);
  entities.references(slot)->note(level, motion_tick, encoded);
  if (is_known) return;
  ++stats.entities_refused;
  ++stats.refusals[Refusal::too_many];
  if (std::exchange(says_refused_, true)) return;
  say(config.log, LogLevel::warning, "entities refused",
      {{"max_entities", std::uint64_t{config.max_entities}}});
}

// Applies a spawn that the server sent in the tick `sent`. It may have been overtaken by later datagrams.
void ClientWorld::apply(NewEntity& spawned, Tick sent) {
  link.spawns().settle(spawned.number);
  const EntityId id = spawned.entity;
  const auto slot = static_cast<std::uint32_t>(id.slot());
  const bool is_empty = slot >= entities.slots().size() || !entities.slots()[slot];
  const std::uint32_t held = is_empty ? 0 : entities.slots()[slot]->spawn_number;
  if (spawned.number < held || spawned.number <= entities.newest_ended(slot))
    return (void)++stats.updates_stale;
  const std::optional<double> end_s = spawned.info.end_s;
  if (spawned.number == held) {
    KnownEntity& known = *entities.at(slot);
    if (known.id != id || known.info.archetype != spawned.info.archetype)
      return (void)++stats.refusals[Refusal::unexpected];
    renew(known, sent, spawned.level, spawned.motion_tick, spawned.encoded, spawned.motion);
  } else if (!has_room_for(id, spawned.motion.frame)) {
    return refuse(id, spawned.info.archetype, spawned.level, spawned.motion_tick, spawned.encoded);
  } else {
    const Motion& motion = spawned.motion;
    const auto lacks = static_cast<std::uint32_t>((std::uint64_t{1} << spawned.values.size()) - 1);
    constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
    const double values_s = spawned.values_follow ? kLongAgo : link.clock().time_of(sent);
    introduce({.id = id,
               .info = std::move(spawned.info),
               .remote = RemoteEntity{motion, path_, switches.blend},
               .spawned_s = motion.time_s,
               .spawn_number = spawned.number,
               .announced = sent,
               .prediction = spawned.prediction,
               .teleports_shown = motion.teleports,
               .teleports_reported = motion.teleports,
               .fields = FieldTimeline{std::move(spawned.values), values_s},
               .lacks_fields = spawned.values_follow ? lacks : 0,
               .frame_shown = motion.frame},
              spawned.level, spawned.motion_tick, spawned.encoded);
    // The server waits for this before it sends updates. Short-lived entities seldom need any.
    if (!entities.at(slot)->info.short_lived) link.sender().request_ack();
  }
  KnownEntity& known = *entities.at(slot);
  if (!known.info.short_lived) return;
  if (spawned.prediction && !known.is_reported) predictions.confirm(*spawned.prediction);
  known.info.end_s = known.despawned_s = end_s;
  events.note_news(known);
}

// Applies the end of an entity, after the reliable messages that the server sent before.
void ClientWorld::apply(const EndedEntity& ended) {
  link.spawns().settle(ended.number);
  const auto slot = static_cast<std::uint32_t>(ended.entity.slot());
  if (!entities.note_ended(slot, ended.number)) return;
  KnownEntity* known = entities.at(slot);
  if (known == nullptr || known->spawn_number > ended.number)
    return (void)entities.forget_refused(ended.entity);
  if (lacks_messages(ended)) return waiting_ends_.push_back(ended);
  end_in_slot(ended);
}

// The end may concern a later spawn than the client has: the end of the one that it has comes too late then.
void ClientWorld::end_in_slot(const EndedEntity& ended) {
  KnownEntity* known = entities.at(static_cast<std::uint32_t>(ended.entity.slot()));
  if (known != nullptr && known->spawn_number <= ended.number) despawn(*known, ended.tick);
}

// True if the client has not processed yet what the server sent before the end.
bool ClientWorld::lacks_messages(const EndedEntity& ended) const {
  if (!ended.after_messages) return false;
  const auto processed = static_cast<std::uint16_t>(messages.counts().processed_count());
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(*ended.after_messages - processed)) > 0;
}

void ClientWorld::despawn_waiting() {
  std::erase_if(waiting_ends_, [&](const EndedEntity& ended) {
    if (lacks_messages(ended)) return false;
    end_in_slot(ended);
    return true;
  });
}

void ClientWorld::limit_unseen(KnownEntity& entity) {
  if (link.clock().ready()) fades.limit_unseen(entity, playout.shown_s());
}

void ClientWorld::despawn(KnownEntity& entity, Tick tick) {
  if (path_ == MotionPath::predict)
    return remove(static_cast<std::uint32_t>(entity.id.slot()), link.clock().time_of(tick));
  // A short-lived entity may end earlier, as its spawn says.
  const double ended_s = link.clock().time_of(tick);
  entity.despawned_s = std::min(entity.despawned_s.value_or(ended_s), ended_s);
  events.note_news(entity);
}

// Entities in the frame of the removed entity get a substitute motion. Its time stamp is slightly before
// `ended_s`, so that every later motion from the server replaces it.
void ClientWorld::remove(std::uint32_t slot, double ended_s) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->is_reported) {
    events.add({ClientEvent::Kind::despawned, entity->id});
  } else if (entity->prediction) {  // it ended before it was shown
    if (const auto prediction = predictions.release(*entity->prediction)) fail_prediction(prediction->id);
  }
  link.owned().remove(entity->id);
  constexpr double kBeforeS = 1e-4;
  const double shown_s = playout.started() ? playout.shown_s() : ended_s;
  if (frames.any()) frames.release(*entity, ended_s - kBeforeS, shown_s, blend_s());
  entities.remove(slot);
}

// Applies a motion, and reports it to the observer. Returns false if it is not newer than the known motions.
bool ClientWorld::apply_motion(KnownEntity& entity, const Motion& motion, const Origin& origin) {
  if (switches.observer == nullptr) return blend_onto(entity, motion);
  const double shown_s = playout.shown_s();
  ClientObserver::Arrival arrival{.entity = entity.id,
                                  .announced = origin.announced,
                                  .level = origin.level,
                                  .sent_s = link.clock().time_of(origin.sent),
                                  .motion = motion,
                                  .previous = entity.remote.newest(),
                                  .before = entity.remote.unblended(shown_s),
                                  .shown_s = shown_s};
  arrival.applied = blend_onto(entity, motion);
  arrival.after = entity.remote.unblended(shown_s);
  switches.observer->arrival(arrival);
  return arrival.applied;
}

// The instant that counts for what the client applies now, s of shown time. For lag compensation the server
// must compute with the same number, and its reports have a unit.
double ClientWorld::applied_s() const {
  const double shown_s = playout.shown_s();
  return link.showing().wanted() ? ShowingReport::time_of(ShowingReport::units(shown_s)) : shown_s;
}

bool ClientWorld::blend_onto(KnownEntity& entity, const Motion& motion) {
  const RemoteEntity& remote = entity.remote;
  const bool shows = playout.started();
  const double shown_s = shows ? applied_s() : remote.oldest().time_s;
  BlendTime blend = catch_up(std::max(0.0, shown_s - remote.valid_until_s()));
  blend.hurries = shows && fades.limit().has_stalled(playout.now_s());
  const double holds_s = fades.limit().of(std::max(motion.time_s, remote.newest().time_s));
  const double limit_s = shows && shown_s > holds_s ? holds_s : kAlwaysValid;
  // An entity that was not shown yet has no pose to blend from. It counts as shown since its arrival or, in a
  // buffered mode, since its first motion: the server knows these times, but not the times of drawn frames
  // (lag compensation).
  const double first_s = path_ == MotionPath::interpolate ? entity.spawned_s : entity.appeared_s;
  const bool was_shown = shows && shown_s > std::max(entity.appeared_s, first_s);
  if (!frames.receive(entity, motion, shown_s, was_shown ? blend : BlendTime{0.0}, limit_s)) return false;
  fades.note_limit(limit_s);
  // The server does not know of stalls, silences and pauses.
  const Blend& catch_up = remote.blends().catch_up;
  const bool begins = catch_up.duration_s() > 0.0 && catch_up.start_s() == shown_s;
  const bool catches_up = begins || remote.jumped_s() == shown_s;
  if (catches_up) link.showing().note_jump();
  if (motion.teleports != entity.teleports_reported || has_jumped(entity)) events.note_news(entity);
  return true;
}

void ClientWorld::apply(std::span<const MotionUpdate> updates, Tick sent, double local_s) {
  for (const MotionUpdate& update : updates) {
    if (References* references = entities.references(update.slot))
      references->note(update.level, update.tick, update.encoded);
    KnownEntity* entity = entities.at(update.slot);
    if (entity != nullptr && entity->owned && !update.lacks_frame) owned.keep(*entity, update.motion);
    // The entity has despawned, or the update is older than the entity in this slot.
    if (entity == nullptr || entity->owned || update.lacks_frame ||
        update.motion.time_s < entity->spawned_s) {
      ++stats.updates_stale;
      continue;
    }
    Motion motion = update.motion;
    if (!switches.uses_stamps && link.clock().known()) motion.time_s = link.clock().server_time_s(local_s);
    const double gap_s = motion.time_s - entity->remote.newest().time_s;
    const bool held = !playout.is_quiet(gap_s) || held_until(entity->remote.newest(), motion);
    if (!apply_motion(*entity, motion, {false, update.level, sent})) {
      ++stats.updates_stale;
      continue;
    }
    ++stats.updates_applied;
    // What waited while the program slept says nothing about the link.
    if (gap_s > 0.0 && link.clock().known() && !link.clock().is_backlog()) {
      playout.note_update(link.clock().server_time_s(local_s) - motion.time_s, gap_s, held);
    }
  }
}

void ClientWorld::apply(std::span<const FieldUpdate> updates) {
  for (const FieldUpdate& update : updates) {
    const bool fresh = waiting_fields_.add(update.slot, update.field, update.time_s, update.value, entities);
    ++(fresh ? stats.field_changes_applied : stats.field_changes_stale);
  }
}

}  // namespace reckoner
