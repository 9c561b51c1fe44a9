// SPDX-License-Identifier: MIT
#include "server/src/session/motion_section.hpp"

#include "net/src/codec/residual/coding_statistics.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/rewind/shown_history.hpp"
#include "server/src/session/update_order.hpp"
#include "server/src/util/server_observer.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace reckoner {
namespace {

// Weight of each level of detail in the priority. A finer level means that the entity is more relevant.
constexpr std::array<float, kLevels> kLevelWeight{1.0f, 0.5f, 0.25f};

// If not all due updates fit the byte budget, the updates that are most urgent by a first estimate are
// compared exactly. Their number is this number of times the number of updates that could fit.
constexpr double kCandidates = 4.0;
constexpr double kMinUpdateBytes = 3.0;  // limits how many updates are considered for a budget

// Number of motions over which the age of sent motions is averaged.
constexpr std::uint64_t kAgeAverage = 64;

// Number of ticks since the client began to lack the entity's newest motion, at least 1.
double waited_ticks(const TickInputs& inputs, const Subscription& subscription) {
  return static_cast<std::int32_t>(inputs.tick - subscription.due_since) + 1.0;
}

void note_coding(const TickInputs& inputs, const Snapshot::Item& item) {
  const Entity& entity = inputs.entities.slots()[item.slot];
  const PublishStream& stream = entity.levels[item.level].stream;
  const PublishStream::Publish& newest = stream.newest();
  const Quantisation& q = inputs.quantisation[entity.archetype];
  if (item.reference == 0) return inputs.coding->add(newest.encoded, nullptr, 0.0, q, item.bits);
  const PublishStream::Publish& base = stream.at(item.reference);
  inputs.coding->add(newest.encoded, &base.encoded, (newest.tick - base.tick) / inputs.tick_rate_hz, q,
                     item.bits);
}

}  // namespace

MotionSection::MotionSection(const Shared& shared, const SenderParts& parts, double tick_rate_hz)
    : shared_(shared),
      repairs_(parts.repair),
      ranks_by_error_(parts.error_order),
      tick_rate_hz_(tick_rate_hz) {}

void MotionSection::select(const TickInputs& inputs, bool waits, bool spawns_wait, const ByteBudget& budget,
                           double one_way_s, WriteScratch& scratch) {
  Snapshot& snapshot = scratch.snapshot;
  snapshot.clear();
  shared_.subscriptions.note_published(inputs.published, inputs.tick, scratch.fresh);
  if (inputs.postponed) postponed_ = inputs.tick;
  if (waits || !budget.affordable()) return;
  shared_.subscriptions.for_each_due([&](std::uint32_t slot, Subscriptions::Index index, Subscription& s) {
    select_update(inputs, slot, index, s, snapshot);
  });
  const double room = std::max(0.0, budget.available());
  const double most = room / kMinUpdateBytes + 1.0;
  snapshot.keep(static_cast<std::size_t>(ranks_by_error_ ? kCandidates * most : most));
  if (snapshot.measure(inputs.encodings, scratch.worker) <= room) return;
  // While spawns are in flight, the first estimate is as good, and leaves the connection more even.
  if (ranks_by_error_ && !spawns_wait) rank(inputs, one_way_s, snapshot);
  snapshot.keep_within(room);
}

// Sets the priority of each update by what it improves for the client.
void MotionSection::rank(const TickInputs& inputs, double one_way_s, Snapshot& snapshot) const {
  const OrderInputs order{inputs.routes, inputs.tick, inputs.tick_time_s, inputs.tick_rate_hz,
                          inputs.tick_time_s + one_way_s};
  for (Snapshot::Item& item : snapshot.items()) {
    const Subscription& s = shared_.subscriptions.at(item.subscription);
    const Entity& entity = inputs.entities.slots()[item.slot];
    item.priority = priority_of({.entity = entity,
                                 .archetype = inputs.archetypes[entity.archetype],
                                 .quantisation = inputs.quantisation[entity.archetype],
                                 .level = item.level,
                                 .known = s.repair ? s.acknowledged : s.sent,
                                 .waited_s = waited_ticks(inputs, s) / inputs.tick_rate_hz,
                                 .bits = item.bits},
                                order);
  }
}

// Decides whether a due motion can be sent now, and relative to which baseline it is encoded.
void MotionSection::select_update(const TickInputs& inputs, std::uint32_t slot, Subscriptions::Index index,
                                  Subscription& s, Snapshot& snapshot) const {
  const StreamHead& stream = inputs.entities.heads()[slot * kLevels + s.level];
  if (stream.number == s.sent && !s.repair) return shared_.subscriptions.clear_due(slot);
  if (!shared_.messages.knows_route(stream.route) || !knows_frame(stream)) return;
  Snapshot::Item item{.slot = slot, .subscription = index, .level = s.level, .tick = stream.tick};
  // After a short ownership, the newest motion is the one that the client has.
  if (!s.in_full && s.acknowledged != stream.number && stream.can_refer_to(s.acknowledged)) {
    item.reference = s.acknowledged;
    item.reference_tick = s.acknowledged_tick;
  }
  // A first estimate. It grows with the error of the client's motion and with the time that the update has
  // waited.
  item.priority = kLevelWeight[s.level] * std::clamp(stream.urgency, 0.5f, 64.0f) *
                  static_cast<float>(waited_ticks(inputs, s));
  snapshot.add(item);
}

// True if the client can show a motion in this frame.
bool MotionSection::knows_frame(const StreamHead& stream) const {
  if (stream.frame_index1 == 0) return true;
  const Subscription* frame = shared_.subscriptions.find(stream.frame_index1 - 1);
  return frame != nullptr && frame->confirmed;
}

void MotionSection::write(BitWriter& writer, std::size_t room_bits, const SectionPlace& place,
                          WriteScratch& scratch, ServerHeader& header) {
  const TickInputs& inputs = place.inputs;
  header.coding = scratch.snapshot.coding(inputs.tick, acknowledged_tick_);
  const auto updates = scratch.snapshot.write_updates(inputs.tick, header.coding, room_bits, writer);
  header.update_count = static_cast<std::uint32_t>(updates.size());
  for (const Snapshot::Item& item : updates) {
    if (inputs.observer != nullptr) report_delay(item, inputs);
    note_sent(item, inputs, scratch);
    if (place.seen != nullptr) {
      place.seen->sent(place.sequence, inputs.entities.slots()[item.slot].id,
                       inputs.motions->newest(item.slot, item.level), inputs.now_s);
    }
    if (inputs.coding != nullptr) note_coding(inputs, item);
  }
  place.stats.update_bits_sent += writer.bits_written();
}

// Reports an update that became due in an earlier tick. Call it before note_sent().
void MotionSection::report_delay(const Snapshot::Item& item, const TickInputs& inputs) const {
  const Subscription& s = shared_.subscriptions.at(item.subscription);
  const auto waited = static_cast<std::int32_t>(inputs.tick - s.due_since);
  if (waited <= 0 && !s.repair) return;
  using Why = ServerObserver::Delayed::Why;
  const bool was_postponed = postponed_ && static_cast<std::int32_t>(*postponed_ - s.due_since) >= 0;
  const Entity& entity = inputs.entities.slots()[item.slot];
  const double began_s = shared_.stamps.began_s().value_or(-std::numeric_limits<double>::infinity());
  inputs.observer->delayed({shared_.client, entity.id, item.level, inputs.tick_time_s,
                            entity.levels[item.level].stream.motion().time_s,
                            std::max(began_s, inputs.tick_time_s - waited / tick_rate_hz_),
                            s.repair                                         ? Why::repair
                            : was_postponed                                  ? Why::late
                            : shared_.turns.explains(waited / tick_rate_hz_) ? Why::turn
                                                                             : Why::budget});
}

void MotionSection::note_sent(const Snapshot::Item& item, const TickInputs& inputs, WriteScratch& scratch) {
  const StreamHead& stream = inputs.entities.heads()[item.slot * kLevels + item.level];
  Subscription& s = shared_.subscriptions.at(item.subscription);
  ServerStats& stats = scratch.datagrams.stats;
  const double age_s = static_cast<std::int32_t>(inputs.tick - stream.tick) / tick_rate_hz_;
  sent_age_s_ += (age_s - sent_age_s_) / static_cast<double>(std::min(++sent_, kAgeAverage));
  in_flight_.add({item.subscription, s.spawn_number, stream.number, stream.tick, item.level});
  s.sent = stream.number;
  ++stats.updates_sent;
  stats.full_updates_sent += item.reference == 0 ? 1 : 0;
  scratch.traffic.motion(item.slot,
                         stream.route          ? SentContent::route_motion
                         : item.reference == 0 ? SentContent::full_motion
                                               : SentContent::residual_motion,
                         item.bits);
  if (stream.route) {
    ++stats.route_updates_sent;
    stats.route_bits_sent += item.bits;
  }
  if (s.repair) {
    ++stats.repairs_sent;
    scratch.datagrams.repaired.push_back(static_cast<std::uint32_t>(item.slot * kLevels + item.level));
  }
  s.repair = s.in_full = false;
  shared_.subscriptions.clear_due(item.slot);
}

Tick MotionSection::settle(Sequence sequence, bool acked) {
  Subscriptions& subscriptions = shared_.subscriptions;
  const Tick tick = in_flight_.at(sequence).tick;
  if (acked && earlier(acknowledged_tick_, tick)) acknowledged_tick_ = tick;
  in_flight_.for_each(sequence, [&](const SentMotion& m) { prefetch(&subscriptions.at(m.subscription)); });
  in_flight_.for_each(sequence, [&](const SentMotion& m) {
    Subscription& s = subscriptions.at(m.subscription);
    if (s.spawn_number == m.spawn_number && s.level == m.level) settle_motion(s, m, acked);
  });
  in_flight_.end(sequence);
  return tick;
}

void MotionSection::settle_motion(Subscription& s, const SentMotion& motion, bool acked) {
  if (acked) {
    s.losses = 0;
    if (s.acknowledged != 0 && !earlier(s.acknowledged, motion.number)) return;
    s.acknowledged = motion.number;
    s.acknowledged_tick = motion.motion_tick;
    return;
  }
  // After two losses in a row, the cause may be that the client refuses the updates because it lacks their
  // baseline.
  s.losses = static_cast<std::uint8_t>(std::min(s.losses + 1, 255));
  const bool newest = s.sent == motion.number;
  if (newest && repairs_) shared_.subscriptions.set_due(s, motion.motion_tick, true);
  s.in_full = s.in_full || newest || s.losses >= 2;
}

}  // namespace reckoner
