// SPDX-License-Identifier: MIT
#include "cluster/src/mirror/mirror.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner::cluster {
namespace {

constexpr double kAskEveryS = 0.25;
constexpr double kDiffersForS = 0.6;  // after this time, another number of entities means that one is missing
constexpr double kNoteEveryS = 0.1;   // how often a stream confirms the motions of its entities
constexpr double kForgetStreamS = 30.0;  // entities of a writer that is silent for so long are removed
constexpr double kWaitForFrameS = 2.0;
// An entity that its writer no longer describes was handed over, usually, and the batch of its new holder is
// in flight. It is removed after this time.
constexpr double kMissingS = 1.0;
constexpr double kLagRate = 0.02;    // weight of a batch in the mean lag
constexpr double kLargestLagS = 10;  // a larger one is no lag but a wrong time stamp
// Batches that seem to have arrived already, and no others: the numbers in between were not this writer's.
constexpr double kRestartStreamS = 0.5;
constexpr double kAskAfterGapS = 0.1;
// Records whose right to write is being read.
constexpr std::size_t kMostPostponed = 32 * 1024;
constexpr std::size_t kMostPostponedInSlot = 32;
constexpr std::ptrdiff_t kMostPostponedOfWriter = 4;  // in one slot: a liar leaves room for the others

EntityId id_of(const DescribedRecord& r) {
  return r.entity.id;
}
std::uint32_t epoch_of(const DescribedRecord& r) {
  return r.entity.epoch;
}
template <class R>
EntityId id_of(const R& r) {
  return r.id;
}
template <class R>
std::uint32_t epoch_of(const R& r) {
  return r.epoch;
}

}  // namespace

Mirror::Mirror(const ClusterConfig& config, Server& server, ProcessId self, EpochTable& epochs,
               const Members& members, Send send, double silence_s, ClusterStats& stats)
    : config_(config),
      server_(server),
      access_(server),
      self_(self),
      epochs_(epochs),
      members_(members),
      send_(std::move(send)),
      silence_s_(silence_s),
      stats_(stats) {}

void Mirror::watch(const std::set<std::uint32_t>& cells) {
  if (cells == cells_) return;
  cells_ = cells;
  std::vector<EntityId> leaving;
  for (const auto& [id, known] : known_) {
    if (!known.held && !cells_.contains(known.cell)) leaving.push_back(id);
  }
  for (const EntityId id : leaving)
    remove(id);
  std::erase_if(streams_, [&](const auto& entry) { return !cells_.contains(entry.first.first); });
  std::erase_if(waiting_, [&](const Waiting& w) { return !cells_.contains(w.record.entity.cell); });
}

const Mirror::Known* Mirror::find(EntityId id) const {
  const auto found = known_.find(id);
  return found != known_.end() ? &found->second : nullptr;
}

void Mirror::count_stale(const Batch& batch) {
  stats_.stale_refused += std::max<std::size_t>(
      1, batch.described.size() + batch.motions.size() + batch.fields.size() + batch.gone.size());
}

// Applies a record if the table of epochs confirms that its writer holds the entity.
template <class R>
void Mirror::admit(const R& record, StreamKey from, double now_s) {
  const EntityId id = id_of(record);
  const std::uint32_t epoch = epoch_of(record);
  switch (epochs_.check_slot(id, epoch, from.second)) {
    case EpochTable::Verdict::confirmed:
      note_overtaken(id, epoch);
      return apply(record, from, now_s);
    case EpochTable::Verdict::refuted:
      return refuse(record, id, epoch, from);
    case EpochTable::Verdict::open:
      return postpone(record, id, from);
  }
}

void Mirror::postpone(Record record, EntityId id, StreamKey from) {
  std::vector<Postponed>& in_slot = postponed_[id.index1];
  const auto of_writer = std::count_if(in_slot.begin(), in_slot.end(),
                                       [&](const Postponed& one) { return one.from.second == from.second; });
  if (of_writer >= kMostPostponedOfWriter || in_slot.size() >= kMostPostponedInSlot ||
      postponed_count_ >= kMostPostponed) {
    ++stats_.unconfirmed_refused;
    return repair(from);
  }
  in_slot.push_back({std::move(record), from, epochs_.now_s()});
  ++postponed_count_;
}

void Mirror::refuse(const Record& record, EntityId id, std::uint32_t epoch, StreamKey from) {
  if (epoch > epochs_.slot_epoch(id)) {
    ++stats_.unconfirmed_refused;
    return repair(from);
  }
  // A former holder may say that the entity left its cell when its new holder has said more.
  if (std::holds_alternative<GoneRecord>(record) && epoch < epochs_.slot_epoch(id)) return;
  ++stats_.stale_refused;
}

void Mirror::note_overtaken(EntityId id, std::uint32_t epoch) {
  const auto found = known_.find(id);
  if (found != known_.end() && found->second.held && epoch > found->second.epoch) overtaken_.push_back(id);
}

// Something of the stream was refused that may have been right.
void Mirror::repair(StreamKey from) {
  const auto stream = streams_.find(from);
  if (stream != streams_.end()) stream->second.incomplete = true;
}

void Mirror::settle(const std::vector<std::uint32_t>& slots, double now_s) {
  for (const std::uint32_t slot : slots)
    settle_slot(slot, now_s);
}

void Mirror::settle_slot(std::uint32_t slot, double now_s) {
  const auto found = postponed_.find(slot);
  if (found == postponed_.end()) return;
  std::vector<Postponed> records = std::move(found->second);
  postponed_.erase(found);
  postponed_count_ -= records.size();
  std::vector<Postponed> open;
  for (Postponed& h : records) {
    const auto [id, epoch] = std::visit(
        [](const auto& r) {
          return std::pair{id_of(r), epoch_of(r)};
        },
        h.record);
    switch (epochs_.check_slot(id, epoch, h.from.second, h.since_s)) {
      case EpochTable::Verdict::confirmed:
        note_overtaken(id, epoch);
        if (cells_.contains(h.from.first))
          std::visit([&](const auto& r) { apply(r, h.from, now_s); }, h.record);
        break;
      case EpochTable::Verdict::refuted:
        refuse(h.record, id, epoch, h.from);
        break;
      case EpochTable::Verdict::open:
        open.push_back(std::move(h));
        break;
    }
  }
  if (open.empty()) return;
  postponed_count_ += open.size();
  postponed_[slot] = std::move(open);
}

// Checks the sequence. False for a batch that was received already.
bool Mirror::continues(Stream& stream, const Batch& batch, double now_s) {
  const auto ahead = static_cast<std::int32_t>(batch.sequence - stream.next);
  if (stream.started && ahead < 0) {
    if (now_s - stream.continued_s <= kRestartStreamS) return false;
    stream.incomplete = true;
  }
  if (stream.started && ahead > 0) {
    stats_.gaps += static_cast<std::uint64_t>(ahead);
    stream.incomplete = true;
    stream.asked_s = std::min(stream.asked_s, now_s - kAskEveryS + kAskAfterGapS);
  }
  stream.started = true;
  stream.next = batch.sequence + 1;
  stream.continued_s = now_s;
  return true;
}

void Mirror::receive(const Batch& batch, double now_s) {
  if (batch.writer == self_ || !cells_.contains(batch.cell)) return;
  // A former holder of the cell. A guest does not claim to hold it; the epochs of its entities decide. So
  // they do while the table is being read.
  if (batch.holds_cell &&
      epochs_.check_cell(batch.cell, batch.cell_epoch, batch.writer) == EpochTable::Verdict::refuted)
    return count_stale(batch);
  const StreamKey from{batch.cell, batch.writer};
  Stream& stream = streams_[from];
  stream.heard_s = now_s;
  if (batch.snapshot) {
    if (!stream.started || static_cast<std::int32_t>(batch.sequence + 1 - stream.next) > 0) {
      stream.next = batch.sequence + 1;
      stream.continued_s = now_s;
    }
    stream.started = true;
  } else if (!continues(stream, batch, now_s)) {
    return;
  }
  ++stats_.batches_received;
  for (const DescribedRecord& record : batch.described)
    admit(record, from, now_s);
  for (const MotionRecord& record : batch.motions)
    admit(record, from, now_s);
  for (const FieldsRecord& record : batch.fields)
    admit(record, from, now_s);
  for (const GoneRecord& record : batch.gone)
    admit(record, from, now_s);
  const double lag_s = now_s - server_.tick_time_s(batch.tick);
  if (!batch.motions.empty() && !batch.snapshot && std::abs(lag_s) < kLargestLagS) {
    lag_weight_ = std::max(kLagRate, lag_weight_ / (1.0 + lag_weight_));
    stats_.lag_s += lag_weight_ * (lag_s - stats_.lag_s);
  }
  if (batch.snapshot) return finish_snapshot(stream, batch, now_s);
  if (now_s - stream.noted_s > kNoteEveryS) {
    stream.noted_s = now_s;
    for (const EntityId id : stream.members)
      access_.note_feed(id, now_s);
  }
  if (batch.entities == stream.members.size()) {
    stream.differs_since_s.reset();
  } else if (!stream.differs_since_s) {
    stream.differs_since_s = now_s;
  } else if (now_s - *stream.differs_since_s > kDiffersForS) {
    stream.incomplete = true;
    stream.differs_since_s = now_s;
  }
}

void Mirror::finish_snapshot(Stream& stream, const Batch& batch, double now_s) {
  for (const DescribedRecord& record : batch.described)
    stream.described.insert(record.entity.id);
  if (!batch.last_part) return;
  for (const EntityId id : stream.members) {
    const auto found = known_.find(id);
    if (stream.described.contains(id) || found == known_.end() || found->second.missing_s) continue;
    found->second.missing_s = now_s;
    missing_.push_back(id);
  }
  stream.described.clear();
  stream.incomplete = false;
  stream.differs_since_s.reset();
}

void Mirror::remove_missing(double now_s) {
  std::erase_if(missing_, [&](EntityId id) {
    const auto found = known_.find(id);
    if (found == known_.end() || !found->second.missing_s) return true;
    if (now_s - *found->second.missing_s <= kMissingS) return false;
    remove(id);
    return true;
  });
}

// Puts an entity into the stream of its cell and writer.
void Mirror::join(EntityId id, Known& known, std::uint32_t cell, ProcessId writer) {
  if (known.cell != cell || known.writer != writer) {
    const auto before = streams_.find({known.cell, known.writer});
    if (before != streams_.end()) before->second.members.erase(id);
  }
  known.cell = cell;
  known.writer = writer;
  known.missing_s.reset();
  if (!known.held) streams_[{cell, writer}].members.insert(id);
}

// Notes the epoch and the time stamp of a motion. The first motion of a new holder ends a silence.
void Mirror::note_motion(Known& known, std::uint32_t epoch, Tick tick, std::optional<Cause> cause) {
  const auto silent = static_cast<std::int32_t>(tick - known.tick);
  if (epoch > known.epoch && known.epoch > 0 && cause == Cause::handed_over) {
    const auto ticks = static_cast<std::size_t>(std::max(0, silent));
    ++stats_.silence_ticks[std::min(ticks, stats_.silence_ticks.size() - 1)];
  }
  if (epoch > known.epoch && known.epoch > 0 && cause == Cause::adopted && stats_.orphan_s.size() < 100'000)
    stats_.orphan_s.push_back(std::max(0, silent) / config_.tick_rate_hz);
  known.epoch = epoch;
  if (silent > 0) known.tick = tick;
}

bool Mirror::show(const EntityRecord& entity, double now_s) {
  const auto state =
      access_.state_of(entity.motion, entity.archetype, entity.tick, server_.tick_time_s(entity.tick));
  if (!state) {
    ++stats_.malformed;
    return true;
  }
  const EntityId frame = entity.motion.frame;
  if (frame && !server_.state(frame)) return false;
  // The slot's earlier entity has ended; its end was lost.
  EntityId& in_slot = slot_entities_[entity.id.index1];
  if (in_slot && in_slot != entity.id) forget(in_slot);
  in_slot = entity.id;
  if (!server_.state(entity.id)) {
    if (!access_.spawn_as(entity.id, entity.archetype, entity.name, *state, frame)) {
      ++stats_.malformed;
      return true;
    }
  }
  (void)access_.feed(entity.id, entity.motion, entity.tick, now_s, silence_s_);
  return true;
}

void Mirror::apply(const DescribedRecord& record, StreamKey from, double now_s) {
  const EntityRecord& entity = record.entity;
  auto found = known_.find(entity.id);
  if (found != known_.end() && found->second.held) return;
  if (!cells_.contains(entity.cell)) return remove(entity.id);
  if (found != known_.end()) {
    (void)access_.feed(entity.id, entity.motion, entity.tick, now_s, silence_s_);
  } else if (!show(entity, now_s)) {
    std::erase_if(waiting_, [&](const Waiting& w) { return w.record.entity.id == entity.id; });
    waiting_.push_back({record, from.second, now_s + kWaitForFrameS});
    return;
  }
  if (!server_.state(entity.id)) return;
  if (found == known_.end()) found = known_.emplace(entity.id, Known{}).first;
  Known& known = found->second;
  if (known.epoch == 0) known.cell = entity.cell, known.writer = from.second, known.tick = entity.tick;
  known.archetype = entity.archetype;
  note_motion(known, entity.epoch, entity.tick, record.cause);
  join(entity.id, known, entity.cell, from.second);
  ++stats_.motions_received;
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    (void)server_.set_field(entity.id, i, entity.fields[i]);
  if (access_.relevance(entity.id) != entity.relevance)
    (void)server_.set_relevance(entity.id, entity.relevance);
  if (access_.groups(entity.id) != entity.groups) (void)server_.set_groups(entity.id, entity.groups);
}

void Mirror::apply(const MotionRecord& record, StreamKey from, double now_s) {
  const auto found = known_.find(record.id);
  if (found == known_.end()) return repair(from);
  Known& known = found->second;
  if (known.held || known.archetype != record.archetype) return;
  // A frame that this process does not show yet: ask for it.
  if (!access_.feed(record.id, record.motion, record.tick, now_s, silence_s_) && record.motion.frame &&
      !server_.state(record.motion.frame))
    repair(from);
  note_motion(known, record.epoch, record.tick, std::nullopt);
  join(record.id, known, from.first, from.second);
  ++stats_.motions_received;
}

void Mirror::apply(const FieldsRecord& record, StreamKey /*from*/, double /*now_s*/) {
  const Known* known = find(record.id);
  if (known == nullptr || known->held || known->archetype != record.archetype) return;
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    (void)server_.set_field(record.id, i, record.fields[i]);
}

// The holder says that an entity has ended or left the cell.
void Mirror::apply(const GoneRecord& record, StreamKey from, double /*now_s*/) {
  const auto found = known_.find(record.id);
  if (found == known_.end() || found->second.held) return;
  if (!record.to_cell || !cells_.contains(*record.to_cell)) return remove(record.id);
  join(record.id, found->second, *record.to_cell, from.second);
}

void Mirror::remove(EntityId id) {
  const auto found = known_.find(id);
  if (found == known_.end() || found->second.held) return;
  forget(id);
}

void Mirror::forget(EntityId id) {
  const auto found = known_.find(id);
  if (found != known_.end()) {
    const auto stream = streams_.find({found->second.cell, found->second.writer});
    if (stream != streams_.end()) stream->second.members.erase(id);
    known_.erase(found);
  }
  (void)server_.despawn(id);
}

bool Mirror::is_forgotten(const Stream& stream, double now_s) {
  return stream.started && now_s - stream.heard_s > kForgetStreamS;
}

void Mirror::run(double now_s) {
  remove_missing(now_s);
  if (!postponed_.empty()) {
    std::vector<std::uint32_t> slots;
    for (const auto& [slot, records] : postponed_)
      slots.push_back(slot);
    settle(slots, now_s);
  }
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (const Waiting& w : waiting) {
    const StreamKey from{w.record.entity.cell, w.writer};
    if (now_s > w.until_s) {
      repair(from);
    } else if (epochs_.check_slot(w.record.entity.id, w.record.entity.epoch, w.writer) ==
               EpochTable::Verdict::confirmed) {
      apply(w.record, from, now_s);
    }
  }
  std::vector<EntityId> lost;
  for (auto& [key, stream] : streams_) {
    if (is_forgotten(stream, now_s)) lost.insert(lost.end(), stream.members.begin(), stream.members.end());
    if (!stream.incomplete || !stream.started || now_s - stream.asked_s <= kAskEveryS) continue;
    if (members_.find(key.second) == nullptr) continue;
    stream.asked_s = now_s;
    ++stats_.repairs;
    send_(key.second, Ask{self_, key.first});
  }
  std::erase_if(streams_, [&](const auto& entry) { return is_forgotten(entry.second, now_s); });
  for (const EntityId id : lost)
    remove(id);
}

void Mirror::hold(EntityId id, std::uint32_t epoch, std::uint32_t cell, std::uint32_t archetype,
                  std::uint64_t revision) {
  Known& known = known_[id];
  slot_entities_[id.index1] = id;
  const auto stream = streams_.find({known.cell, known.writer});
  if (stream != streams_.end()) stream->second.members.erase(id);
  known = {epoch, cell, self_, archetype, known.tick, true};
  (void)epochs_.note_slot(id, epoch, self_, revision);
}

void Mirror::move_held(EntityId id, std::uint32_t cell) {
  const auto found = known_.find(id);
  if (found != known_.end()) found->second.cell = cell;
}

void Mirror::release(EntityId id, ProcessId to, double now_s) {
  const auto found = known_.find(id);
  if (found == known_.end()) return;
  Known& known = found->second;
  const auto published = access_.published(id);
  if (!published || !cells_.contains(known.cell)) return forget(id);
  known.held = false;
  (void)access_.feed(id, published->encoded, published->tick, now_s, silence_s_);
  known.tick = published->tick;
  if (to && to != self_) {
    join(id, known, known.cell, to);
  } else {
    known.writer = {};
  }
}

}  // namespace reckoner::cluster
