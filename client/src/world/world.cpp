// SPDX-License-Identifier: MIT
#include "client/src/world/world.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <reckoner/net/log.hpp>

namespace reckoner {
namespace {

// True if the client has not processed yet what the server sent before the end.
bool lacks_messages(const EndedEntity& ended, std::uint32_t processed) {
  if (!ended.after_messages) return false;
  const auto low = static_cast<std::uint16_t>(processed);
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(*ended.after_messages - low)) > 0;
}

std::uint32_t slot_of(EntityId id) {
  return static_cast<std::uint32_t>(id.slot());
}

}  // namespace

bool World::apply(DecodedDatagram& datagram, std::uint32_t processed, double local_s) {
  bool wants_ack = false;
  for (EntityChange& change : datagram.entity_changes) {
    if (auto* entity = std::get_if<NewEntity>(&change)) {
      wants_ack = apply_spawn(*entity, datagram.tick) || wants_ack;
    } else if (const auto* ended = std::get_if<EndedEntity>(&change)) {
      apply_end(*ended, processed);
    } else if (const auto refused = predictions.release(std::get<PredictionRefusal>(change).key)) {
      fail_prediction(refused->id);
    }
  }
  apply_motions(datagram.motions, datagram.tick, local_s);
  apply_fields(datagram.fields);
  return wants_ack;
}

std::optional<Refusal> World::apply(const RouteMessage& message) {
  return formats.add_route(message) ? std::nullopt : std::optional{Refusal::unknown_route};
}

// Applies a spawn that the server sent in the tick `sent`. It may have been overtaken by later datagrams.
// Returns true if the server waits for its acknowledgement.
bool World::apply_spawn(NewEntity& spawned, Tick sent) {
  spawns.settle(spawned.number);
  const EntityId id = spawned.entity;
  const std::uint32_t slot = slot_of(id);
  const bool is_empty = slot >= entities.slots().size() || !entities.slots()[slot];
  const std::uint32_t known_number = is_empty ? 0 : entities.slots()[slot]->spawn_number;
  if (spawned.number < known_number || spawned.number <= entities.newest_ended(slot)) {
    ++stats_.updates_stale;
    return false;
  }
  const bool is_new = spawned.number != known_number;
  const std::optional<double> end_s = spawned.info.end_s;
  if (!is_new) {
    KnownEntity& known = *entities.at(slot);
    if (known.id != id || known.info.archetype != spawned.info.archetype) {
      ++stats_.refusals[Refusal::unexpected];
      return false;
    }
    renew(known, spawned, sent);
  } else if (!has_room_for(id, spawned.motion.frame)) {
    refuse(spawned);
    return false;
  } else {
    introduce(spawned, sent);
  }
  KnownEntity& known = *entities.at(slot);
  if (!known.info.short_lived) return is_new;  // short-lived entities seldom need any updates
  if (spawned.prediction && !known.is_reported) predictions.confirm(*spawned.prediction);
  known.info.end_s = known.despawned_s = end_s;
  events.note_news(known);
  return false;
}

// Adds an entity with its first motion, in place of an earlier entity in its slot.
void World::introduce(NewEntity& spawned, Tick sent) {
  const EntityId id = spawned.entity;
  const std::uint32_t slot = slot_of(id);
  const Motion& motion = spawned.motion;
  const auto lacks = static_cast<std::uint32_t>((std::uint64_t{1} << spawned.values.size()) - 1);
  constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
  const double values_s = spawned.values_follow ? kLongAgo : clock_.time_of(sent);
  remove(slot, clock_.time_of(sent));
  entities.put({.id = id,
                .info = std::move(spawned.info),
                .remote = RemoteEntity{motion, playout_.path(), blend_policy()},
                .spawned_s = motion.time_s,
                .spawn_number = spawned.number,
                .announced = sent,
                .prediction = spawned.prediction,
                .teleports_shown = motion.teleports,
                .teleports_reported = motion.teleports,
                .fields = FieldTimeline{std::move(spawned.values), values_s},
                .lacks_fields = spawned.values_follow ? lacks : 0,
                .frame_shown = motion.frame});
  KnownEntity& added = *entities.find(id);
  if (playout_.started()) added.appeared_s = blender_.applied_s();
  frames.note(slot, added.remote.newest());
  frames.note_arrival(added);
  events.note_news(added);
  limit_unseen(added);
  entities.references(slot)->note(spawned.level, spawned.motion_tick, spawned.encoded);
  if (switches_.observer == nullptr) return;
  const Motion& first = added.remote.newest();
  switches_.observer->arrival({.entity = id,
                               .announced = true,
                               .fresh = true,
                               .applied = true,
                               .level = spawned.level,
                               .sent_s = clock_.time_of(sent),
                               .motion = first,
                               .previous = first,
                               .before = first.state,
                               .after = first.state,
                               .shown_s = playout_.shown_s()});
}

// A further spawn of a known entity contains a newer motion, or is a copy.
void World::renew(KnownEntity& known, const NewEntity& spawned, Tick sent) {
  const Motion& motion = spawned.motion;
  entities.references(slot_of(known.id))->note(spawned.level, spawned.motion_tick, spawned.encoded);
  if (known.owned) known.ownership_state.keep(motion);
  if (known.owned || motion.time_s < known.spawned_s || entities.is_refused(entity_of(motion.frame)) ||
      !apply_motion(known, motion, {true, spawned.level, sent})) {
    ++stats_.updates_stale;
    return;
  }
  ++stats_.updates_applied;
  if (!known.visible) limit_unseen(known);
}

// True if the client may keep a new entity in this frame. It may take the place of an earlier entity in its
// slot.
bool World::has_room_for(EntityId id, FrameId frame) const {
  const bool replaces = id.slot() < entities.slots().size() && entities.slots()[id.slot()];
  return (replaces || entities.size() < config_.max_entities) && !entities.is_refused(entity_of(frame));
}

// Does not keep a new entity. The server will send motions of it, which the client must be able to read,
// because they travel with those of other entities.
void World::refuse(const NewEntity& spawned) {
  const EntityId id = spawned.entity;
  const std::uint32_t slot = slot_of(id);
  if (slot < entities.slots().size() && entities.slots()[slot])
    remove(slot, clock_.time_of(spawned.motion_tick));  // the server has reused the slot
  const bool is_known = entities.is_refused(id);        // this is a copy, or a newer motion
  entities.note_refused(id, spawned.info.archetype);
  entities.references(slot)->note(spawned.level, spawned.motion_tick, spawned.encoded);
  if (is_known) return;
  ++stats_.entities_refused;
  ++stats_.refusals[Refusal::too_many];
  if (std::exchange(says_refused_, true)) return;
  say(config_.log, LogLevel::warning, "entities refused",
      {{"max_entities", std::uint64_t{config_.max_entities}}});
}

// Applies the end of an entity, after the reliable messages that the server sent before.
void World::apply_end(const EndedEntity& ended, std::uint32_t processed) {
  spawns.settle(ended.number);
  const std::uint32_t slot = slot_of(ended.entity);
  if (!entities.note_ended(slot, ended.number)) return;
  KnownEntity* known = entities.at(slot);
  if (known == nullptr || known->spawn_number > ended.number)
    return (void)entities.forget_refused(ended.entity);
  if (lacks_messages(ended, processed)) return waiting_ends_.push_back(ended);
  end_in_slot(ended);
}

// The end may concern a later spawn than the client has: the end of the one that it has comes too late then.
void World::end_in_slot(const EndedEntity& ended) {
  KnownEntity* known = entities.at(slot_of(ended.entity));
  if (known != nullptr && known->spawn_number <= ended.number) despawn(*known, ended.tick);
}

void World::end_waiting(std::uint32_t processed) {
  std::erase_if(waiting_ends_, [&](const EndedEntity& ended) {
    if (lacks_messages(ended, processed)) return false;
    end_in_slot(ended);
    return true;
  });
}

void World::despawn(KnownEntity& entity, Tick tick) {
  const double ended_s = clock_.time_of(tick);
  if (playout_.path() == MotionPath::predict) return remove(slot_of(entity.id), ended_s);
  // A short-lived entity may end earlier, as its spawn says.
  entity.despawned_s = std::min(entity.despawned_s.value_or(ended_s), ended_s);
  events.note_news(entity);
}

// Entities in the frame of the removed entity get a substitute motion. Its time stamp is slightly before
// `ended_s`, so that every later motion from the server replaces it.
void World::remove(std::uint32_t slot, double ended_s) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->is_reported) {
    events.add({ClientEvent::Kind::despawned, entity->id});
  } else if (entity->prediction) {  // it ended before it was shown
    if (const auto prediction = predictions.release(*entity->prediction)) fail_prediction(prediction->id);
  }
  owned_motions_.remove(entity->id);
  constexpr double kBeforeS = 1e-4;
  const double shown_s = playout_.started() ? playout_.shown_s() : ended_s;
  if (frames.any()) frames.release(*entity, ended_s - kBeforeS, shown_s, playout_.blend_s());
  entities.remove(slot);
}

void World::limit_unseen(KnownEntity& entity) {
  if (clock_.ready()) fades.limit_unseen(entity, playout_.shown_s());
}

void World::apply_motions(std::span<const MotionUpdate> updates, Tick sent, double local_s) {
  for (const MotionUpdate& update : updates) {
    if (References* references = entities.references(update.slot))
      references->note(update.level, update.tick, update.encoded);
    KnownEntity* entity = entities.at(update.slot);
    if (entity != nullptr && entity->owned && !update.lacks_frame)
      entity->ownership_state.keep(update.motion);
    if (entity != nullptr) entity->motion_sent = std::max(entity->motion_sent, sent);
    // The entity has despawned, or the update is older than the entity in this slot.
    if (entity == nullptr || entity->owned || update.lacks_frame ||
        update.motion.time_s < entity->spawned_s) {
      ++stats_.updates_stale;
      continue;
    }
    Motion motion = update.motion;
    if (!switches_.uses_stamps && clock_.known()) motion.time_s = clock_.server_time_s(local_s);
    const double gap_s = motion.time_s - entity->remote.newest().time_s;
    const bool was_valid = !playout_.is_quiet(gap_s) || was_valid_until(entity->remote.newest(), motion);
    if (!apply_motion(*entity, motion, {false, update.level, sent})) {
      ++stats_.updates_stale;
      continue;
    }
    ++stats_.updates_applied;
    // What waited while the program slept says nothing about the connection.
    if (gap_s > 0.0 && clock_.known() && !clock_.is_backlog())
      playout_.note_update(clock_.server_time_s(local_s) + config_.show_ahead_s - motion.time_s, gap_s,
                           was_valid);
  }
}

// Applies a motion, and reports it to the observer. Returns false if it is not newer than the known motions.
bool World::apply_motion(KnownEntity& entity, const Motion& motion, const Origin& origin) {
  if (switches_.observer == nullptr) return blender_.blend_onto(entity, motion);
  const double shown_s = playout_.shown_s();
  ClientObserver::Arrival arrival{.entity = entity.id,
                                  .announced = origin.announced,
                                  .level = origin.level,
                                  .sent_s = clock_.time_of(origin.sent),
                                  .motion = motion,
                                  .previous = entity.remote.newest(),
                                  .before = entity.remote.unblended(shown_s),
                                  .shown_s = shown_s};
  arrival.applied = blender_.blend_onto(entity, motion);
  arrival.after = entity.remote.unblended(shown_s);
  switches_.observer->arrival(arrival);
  return arrival.applied;
}

void World::apply_fields(std::span<const FieldUpdate> updates) {
  for (const FieldUpdate& update : updates) {
    const bool fresh = waiting_fields.add(update.slot, update.field, update.time_s, update.value, entities);
    ++(fresh ? stats_.field_changes_applied : stats_.field_changes_stale);
  }
}

}  // namespace reckoner
