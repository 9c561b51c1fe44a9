// SPDX-License-Identifier: MIT
#include "server/src/session/spawn_section.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/rewind/shown_history.hpp"
#include "server/src/session/motion_section.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace reckoner {
namespace {

// Writes the values of the entity's user fields; nothing if it has no fields.
void write_fields(const TickInputs& inputs, EntityId entity, std::vector<std::byte>& bytes) {
  bytes.clear();
  const FieldTable::Row* row = inputs.fields.find(entity);
  if (row == nullptr) return;
  // The vector belongs to the session, and is only as large as the values.
  std::array<std::byte, kMaxValuesBytes> buffer;
  BitWriter writer{buffer};
  write_values(writer, inputs.fields.specs(*row), row->values);
  const auto written = writer.finish();
  bytes.assign(written.begin(), written.end());
}

// Counts a repeated spawn as an update in full.
void note_coding(const TickInputs& inputs, const Subscription& subscription) {
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const QuantisedState& state = inputs.stream_of(subscription).newest().encoded;
  const Quantisation& q = inputs.quantisation[entity.archetype];
  std::array<std::byte, MotionSection::kMaxUpdateBits / 8> scratch;
  BitWriter writer{scratch};
  write_full(writer, state, q);
  inputs.coding->add(state, nullptr, 0.0, q, writer.bits_written());
}

// Fills the part of a spawn that only short-lived entities have.
void make_short_life(const TickInputs& inputs, const Entity& entity, ClientId client, Spawn& spawn) {
  if (!spawn.short_lived) spawn.short_lived.emplace();
  Spawn::ShortLife& life = *spawn.short_lived;
  life.life.reset();
  if (const auto end_s = entity.short_lived->end_s) {
    const double ticks = (*end_s - inputs.tick_time_s) * inputs.tick_rate_hz + spawn.age;
    life.life = static_cast<std::uint32_t>(std::max(0.0, ticks * Spawn::kLifeSteps));
  }
  life.prediction.reset();
  if (entity.short_lived->predicted_by == client) life.prediction = entity.short_lived->prediction;
  life.data = entity.short_lived->data;
}

}  // namespace

void SpawnSection::follow(const Entity& entity, std::uint8_t level, Tick tick) {
  Subscription& added = shared_.subscriptions.add(entity.id, level);
  added.short_lived = entity.short_lived != nullptr;
  queue_.add_spawn(entity.id, tick, added.short_lived);
}

void SpawnSection::unfollow(const Subscription& subscription, Tick tick, bool as_planned) {
  const EntityId id = subscription.id;
  if (subscription.short_lived && as_planned)
    return queue_.end_as_planned(id, subscription.spawn_number, tick);
  // The client may still lack messages about the entity.
  const MessageCounts& messages = shared_.messages.counts();
  std::optional<std::uint16_t> after_messages;
  if (messages.unconfirmed_count() > 0) {
    after_messages = static_cast<std::uint16_t>(messages.added_count());
    if (subscription.spawn_number != 0)
      ends_after_[static_cast<std::uint32_t>(id.slot())] = messages.added_count();
  }
  queue_.add_end(id, subscription.short_lived, subscription.spawn_number, tick, after_messages);
}

void SpawnSection::begin(const TickInputs& inputs, ServerStats&) {
  forget_ended();
  const auto arrived = static_cast<double>(queue_.take_acknowledged_bytes());
  if (!shared_.budget.may_have_queue()) room_ += arrived;
  queue_.repeat(inputs.tick, inputs.tick_rate_hz, [&](EntityId id) {
    const Subscription* s = shared_.subscriptions.find(id);
    return s != nullptr && has_newer(inputs, *s);
  });
}

Urgency SpawnSection::urgency(Tick tick) const {
  if (!queue_.is_due(tick)) return Urgency::none;
  if (!queue_.has_many()) return Urgency::now;
  if (has_room()) return Urgency::bulk;
  return queue_.has_ends() ? Urgency::waits : Urgency::none;
}

// True if the connection can take more of many spawns. While little is known about the connection, they must
// not fill its queue: what may be in flight begins small, and grows as it arrives (slow start, RFC 5681).
bool SpawnSection::has_room() const {
  if (!shared_.budget.follows_link()) return true;
  return static_cast<double>(queue_.bytes_in_flight()) < std::min(room_, shared_.budget.spawn_room());
}

bool SpawnSection::write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place) {
  const TickInputs& inputs = place.inputs;
  return queue_.write(
             writer, writer.bits_written() + most_bits,
             {place.sequence, inputs.tick, inputs.tick_rate_hz, place.link.loses(),
              queue_.has_many() && !has_room()},
             [&](Spawn& spawn, SpawnQueue::Sent& sent) { return make(inputs, spawn, sent); },
             [&](const SpawnQueue::Sent& sent, std::size_t bits) {
               place.traffic.spawn(static_cast<std::uint32_t>(sent.id.slot()), bits);
               note_written(sent, place);
             },
             [&](EntityId ended, bool waits, std::size_t bits) {
               place.traffic.other(SentContent::end, 1, bits);
               if (place.seen != nullptr && !waits) place.seen->ended_in(place.sequence, ended, inputs.now_s);
             }) > 0;
}

// False if the entity lives in the frame of another entity whose spawn must be written first. The client
// shows the entity when it has both.
bool SpawnSection::knows_frame(const StreamHead& stream) const {
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = shared_.subscriptions.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->spawn_number != 0;
}

// Forgets the ends that wait for no message any more, each time when there are twice as many.
void SpawnSection::forget_ended() {
  const MessageCounts& messages = shared_.messages.counts();
  if (messages.unconfirmed_count() == 0) ends_after_.clear();
  if (ends_after_.size() < most_ends_) return;
  std::erase_if(ends_after_, [&](const auto& end) { return messages.is_confirmed(end.second); });
  most_ends_ = std::max(kFewEnds, 2 * ends_after_.size());
}

// False if the client still has messages to process before it ends the last entity in this slot. A spawn in
// the slot would end that entity at once.
bool SpawnSection::is_slot_free(EntityId id) const {
  const auto last = ends_after_.find(static_cast<std::uint32_t>(id.slot()));
  return last == ends_after_.end() || shared_.messages.counts().is_confirmed(last->second);
}

// Fills the spawn of an entity with its newest motion. Returns false if the client cannot show it yet: it
// does not know the frame or the route of the motion, or the last entity in the slot has not ended.
bool SpawnSection::make(const TickInputs& inputs, Spawn& spawn, SpawnQueue::Sent& sent) const {
  const Subscription& subscription = *shared_.subscriptions.find(sent.id);
  const StreamHead& head = inputs.head_of(subscription);
  if (head.number == 0 || !shared_.messages.knows_route(head.route)) return false;
  sent.keeps_order = !knows_frame(head) || !is_slot_free(sent.id);
  if (sent.keeps_order) return false;
  const Entity& entity = inputs.entities.slots()[subscription.id.slot()];
  const PublishStream& stream = inputs.stream_of(subscription);
  const PublishStream::Publish& newest = stream.newest();
  spawn.entity = entity.id;
  spawn.archetype = static_cast<std::uint8_t>(entity.archetype);
  spawn.level = subscription.level;
  spawn.orientation_bits = static_cast<std::uint8_t>(inputs.quantisation[entity.archetype].orientation_bits);
  spawn.age = inputs.tick - newest.tick;
  spawn.state = newest.encoded;
  spawn.name = entity.name;
  if (entity.short_lived == nullptr) {
    spawn.short_lived.reset();
  } else {
    make_short_life(inputs, entity, shared_.client, spawn);
  }
  write_fields(inputs, entity.id, spawn.fields);
  const std::size_t data_bytes = spawn.short_lived ? spawn.short_lived->data.size() : 0;
  spawn.values_follow = spawn.name.size() + data_bytes + spawn.fields.size() > kMaxSpawnContentBytes;
  if (spawn.values_follow) spawn.fields.clear();
  sent.publish = stream.number();
  sent.level = subscription.level;
  sent.motion_tick = newest.tick;
  sent.predicted = spawn.short_lived && spawn.short_lived->prediction;
  sent.values_follow = spawn.values_follow;
  return true;
}

void SpawnSection::note_written(const SpawnQueue::Sent& sent, const SectionPlace& place) {
  const TickInputs& inputs = place.inputs;
  Subscription& subscription = *shared_.subscriptions.find(sent.id);
  // How the client blends from its own prediction is unknown.
  if (place.seen != nullptr && !sent.predicted) {
    place.seen->announced_in(place.sequence, sent.id, inputs.motions->newest(sent.id.slot(), sent.level),
                             inputs.now_s);
  }
  if (subscription.spawn_number != 0 && subscription.sent != sent.publish) {  // a newer motion
    ++place.stats.updates_sent;
    if (inputs.coding != nullptr) note_coding(inputs, subscription);
  }
  subscription.spawn_number = sent.number;
  subscription.sent = sent.publish;
  const FieldTable::Row* row = inputs.fields.find(sent.id);
  if (!sent.values_follow || row == nullptr) return;
  const std::size_t count = inputs.fields.specs(*row).size();
  shared_.fields.changed(sent.id, static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1), inputs.tick,
                         false);
}

void SpawnSection::settle(const Settled& datagram) {
  queue_.settle(
      datagram.sequence, datagram.tick, datagram.acked,
      [this](const SpawnQueue::Sent& spawn) { confirm(spawn); },
      [&](EntityId ended) {
        if (datagram.seen != nullptr) datagram.seen->end_confirmed(ended);
      },
      [this](const SpawnQueue::Sent& spawn) { note_lost(spawn); });
}

// The client has acknowledged a datagram with a spawn. The server may now send updates of the entity.
void SpawnSection::confirm(const SpawnQueue::Sent& sent) {
  Subscription* s = shared_.subscriptions.find(sent.id);
  if (s == nullptr || s->spawn_number != sent.number) return;
  if (s->confirmed) return Subscriptions::note_acknowledged(*s, sent.publish, sent.level, sent.motion_tick);
  shared_.subscriptions.confirm(*s, sent.publish, sent.level, sent.motion_tick);
  shared_.fields.release_postponed(s->id);
  // The client lacks the motions that were published while the spawn was in flight.
  shared_.subscriptions.set_due(*s, sent.motion_tick + 1, false);
}

// A datagram with a newer motion of a spawn was lost, and the client has the entity from another one.
void SpawnSection::note_lost(const SpawnQueue::Sent& sent) {
  Subscription* s = shared_.subscriptions.find(sent.id);
  if (s == nullptr || s->spawn_number != sent.number || s->level != sent.level || !s->confirmed) return;
  if (s->sent == sent.publish && s->acknowledged != sent.publish)
    shared_.subscriptions.set_due(*s, sent.motion_tick, true);
}

}  // namespace reckoner
