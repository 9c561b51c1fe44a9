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
// on its way. It is removed after this time.
constexpr double kMissingS = 1.0;
constexpr double kLagRate = 0.02;  // weight of a batch in the mean lag

}  // namespace

Mirror::Mirror(const ClusterConfig& config, Server& server, ProcessId self, Send send, double silence_s,
               ClusterStats& stats)
    : config_(config),
      server_(server),
      access_(server),
      self_(self),
      send_(std::move(send)),
      silence_s_(silence_s),
      stats_(stats),
      cell_epochs_(config.columns * config.rows) {}

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

std::uint32_t Mirror::newest_epoch(EntityId id) const {
  const auto found = slot_epochs_.find(id.index1);
  return found != slot_epochs_.end() ? found->second.epoch : 0;
}

void Mirror::count_stale(const Batch& batch) {
  stats_.stale_refused += std::max<std::size_t>(
      1, batch.described.size() + batch.motions.size() + batch.fields.size() + batch.gone.size());
}

// Refuses what a former holder of the cell writes, and a second writer with the same epoch. A guest does not
// claim to hold the cell; the epochs of its entities decide.
bool Mirror::admit(const Batch& batch) {
  if (!batch.holds_cell) return true;
  Writer& newest = cell_epochs_[batch.cell];
  if (batch.cell_epoch < newest.epoch) {
    count_stale(batch);
    return false;
  }
  if (batch.cell_epoch > newest.epoch) newest = {batch.cell_epoch, {}};
  if (newest.process && newest.process != batch.writer) {
    count_stale(batch);
    return false;
  }
  newest.process = batch.writer;
  return true;
}

bool Mirror::admit(EntityId id, std::uint32_t epoch, ProcessId writer) {
  Writer& newest = slot_epochs_[id.index1];
  const bool stale =
      epoch < newest.epoch || (epoch == newest.epoch && newest.process && newest.process != writer);
  if (stale) {
    ++stats_.stale_refused;
    return false;
  }
  const auto found = known_.find(id);
  if (found != known_.end() && found->second.held && epoch > found->second.epoch) overtaken_.push_back(id);
  newest = {epoch, writer};
  return true;
}

// Checks the sequence. False for a batch that was received already.
bool Mirror::continues(Stream& stream, const Batch& batch) {
  if (!stream.started) {
    stream.started = true;
    stream.next = batch.sequence + 1;
    return true;
  }
  const auto ahead = static_cast<std::int32_t>(batch.sequence - stream.next);
  if (ahead < 0) return false;
  if (ahead > 0) {
    stats_.gaps += static_cast<std::uint64_t>(ahead);
    stream.incomplete = true;
    stream.asked_s = -1e9;
  }
  stream.next = batch.sequence + 1;
  return true;
}

void Mirror::receive(const Batch& batch, double now_s) {
  if (batch.writer == self_ || batch.cell >= cell_epochs_.size() || !cells_.contains(batch.cell)) return;
  if (!admit(batch)) return;
  Stream& stream = streams_[{batch.cell, batch.writer}];
  stream.heard_s = now_s;
  if (batch.snapshot) {
    if (!stream.started || static_cast<std::int32_t>(batch.sequence + 1 - stream.next) > 0)
      stream.next = batch.sequence + 1;
    stream.started = true;
  } else if (!continues(stream, batch)) {
    return;
  }
  ++stats_.batches_received;
  for (const DescribedRecord& record : batch.described)
    apply(record, batch, now_s);
  for (const MotionRecord& record : batch.motions)
    apply(record, batch, now_s);
  for (const FieldsRecord& record : batch.fields)
    apply(record, batch);
  for (const GoneRecord& record : batch.gone)
    apply(record, batch);
  if (!batch.motions.empty() && !batch.snapshot) {
    const double lag_s = now_s - server_.tick_time_s(batch.tick);
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
    stream.differs_since_s = -1.0;
  } else if (stream.differs_since_s < 0.0) {
    stream.differs_since_s = now_s;
  } else if (now_s - stream.differs_since_s > kDiffersForS) {
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
    if (stream.described.contains(id) || found == known_.end() || found->second.missing_s >= 0.0) continue;
    found->second.missing_s = now_s;
    missing_.push_back(id);
  }
  stream.described.clear();
  stream.incomplete = false;
  stream.differs_since_s = -1.0;
}

void Mirror::remove_missing(double now_s) {
  std::erase_if(missing_, [&](EntityId id) {
    const auto found = known_.find(id);
    if (found == known_.end() || found->second.missing_s < 0.0) return true;
    if (now_s - found->second.missing_s <= kMissingS) return false;
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
  known.missing_s = -1.0;
  if (!known.held) streams_[{cell, writer}].members.insert(id);
}

// Notes the epoch and the time stamp of a motion. The first motion of a new holder ends a silence.
void Mirror::note_motion(Known& known, std::uint32_t epoch, Tick tick, std::optional<Cause> cause,
                         double now_s) {
  const auto silent = static_cast<std::int32_t>(tick - known.tick);
  if (epoch > known.epoch && known.epoch > 0 && cause == Cause::handed_over) {
    const auto ticks = static_cast<std::size_t>(std::max(0, silent));
    ++stats_.silence_ticks[std::min(ticks, stats_.silence_ticks.size() - 1)];
  }
  if (epoch > known.epoch && known.epoch > 0 && cause == Cause::adopted && stats_.orphan_s.size() < 100'000)
    stats_.orphan_s.push_back(std::max(0, silent) / config_.tick_rate_hz);
  known.epoch = epoch;
  if (silent > 0) known.tick = tick;
  (void)now_s;
}

bool Mirror::show(const EntityRecord& entity, ProcessId writer, double now_s) {
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
  (void)writer;
  (void)access_.feed(entity.id, entity.motion, entity.tick, now_s, silence_s_);
  return true;
}

void Mirror::apply(const DescribedRecord& record, const Batch& batch, double now_s) {
  const EntityRecord& entity = record.entity;
  if (!admit(entity.id, entity.epoch, batch.writer)) return;
  auto found = known_.find(entity.id);
  if (found != known_.end() && found->second.held) return;
  if (!cells_.contains(entity.cell)) return remove(entity.id);
  if (found != known_.end()) {
    (void)access_.feed(entity.id, entity.motion, entity.tick, now_s, silence_s_);
  } else if (!show(entity, batch.writer, now_s)) {
    std::erase_if(waiting_, [&](const Waiting& w) { return w.record.entity.id == entity.id; });
    waiting_.push_back({record, batch.writer, now_s + kWaitForFrameS});
    return;
  }
  if (!server_.state(entity.id)) return;
  if (found == known_.end()) found = known_.emplace(entity.id, Known{}).first;
  Known& known = found->second;
  if (known.epoch == 0) known.cell = entity.cell, known.writer = batch.writer, known.tick = entity.tick;
  known.archetype = entity.archetype;
  note_motion(known, entity.epoch, entity.tick, record.cause, now_s);
  join(entity.id, known, entity.cell, batch.writer);
  ++stats_.motions_received;
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    (void)server_.set_field(entity.id, i, entity.fields[i]);
  if (access_.relevance(entity.id) != entity.relevance)
    (void)server_.set_relevance(entity.id, entity.relevance);
  if (access_.groups(entity.id) != entity.groups) (void)server_.set_groups(entity.id, entity.groups);
}

void Mirror::apply(const MotionRecord& record, const Batch& batch, double now_s) {
  if (!admit(record.id, record.epoch, batch.writer)) return;
  const auto found = known_.find(record.id);
  if (found == known_.end()) {
    streams_[{batch.cell, batch.writer}].incomplete = true;
    return;
  }
  Known& known = found->second;
  if (known.held || known.archetype != record.archetype) return;
  // A frame that this process does not show yet: ask for it.
  if (!access_.feed(record.id, record.motion, record.tick, now_s, silence_s_) && record.motion.frame &&
      !server_.state(record.motion.frame))
    streams_[{batch.cell, batch.writer}].incomplete = true;
  note_motion(known, record.epoch, record.tick, std::nullopt, now_s);
  join(record.id, known, batch.cell, batch.writer);
  ++stats_.motions_received;
}

void Mirror::apply(const FieldsRecord& record, const Batch& batch) {
  if (!admit(record.id, record.epoch, batch.writer)) return;
  const Known* known = find(record.id);
  if (known == nullptr || known->held || known->archetype != record.archetype) return;
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    (void)server_.set_field(record.id, i, record.fields[i]);
}

// The former holder says that an entity has ended or left the cell. A newer epoch knows better.
void Mirror::apply(const GoneRecord& record, const Batch& batch) {
  if (record.epoch < newest_epoch(record.id)) return;
  if (!admit(record.id, record.epoch, batch.writer)) return;
  const auto found = known_.find(record.id);
  if (found == known_.end() || found->second.held) return;
  if (!record.to_cell || !cells_.contains(*record.to_cell)) return remove(record.id);
  join(record.id, found->second, *record.to_cell, batch.writer);
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
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (const Waiting& w : waiting) {
    Batch batch;
    batch.writer = w.writer;
    batch.cell = w.record.entity.cell;
    if (now_s > w.until_s) {
      streams_[{batch.cell, batch.writer}].incomplete = true;
      continue;
    }
    if (w.record.entity.epoch == newest_epoch(w.record.entity.id)) apply(w.record, batch, now_s);
  }
  std::vector<EntityId> lost;
  for (auto& [key, stream] : streams_) {
    if (is_forgotten(stream, now_s)) lost.insert(lost.end(), stream.members.begin(), stream.members.end());
    if (!stream.incomplete || !stream.started || now_s - stream.asked_s <= kAskEveryS) continue;
    stream.asked_s = now_s;
    ++stats_.repairs;
    send_(key.second, Ask{self_, key.first});
  }
  std::erase_if(streams_, [&](const auto& entry) { return is_forgotten(entry.second, now_s); });
  for (const EntityId id : lost)
    remove(id);
}

void Mirror::hold(EntityId id, std::uint32_t epoch, std::uint32_t cell, std::uint32_t archetype) {
  Known& known = known_[id];
  slot_entities_[id.index1] = id;
  const auto stream = streams_.find({known.cell, known.writer});
  if (stream != streams_.end()) stream->second.members.erase(id);
  known = {epoch, cell, self_, archetype, known.tick, true};
  Writer& newest = slot_epochs_[id.index1];
  if (epoch >= newest.epoch) newest = {epoch, self_};
}

void Mirror::move_held(EntityId id, std::uint32_t cell) {
  const auto found = known_.find(id);
  if (found != known_.end()) found->second.cell = cell;
}

void Mirror::release(EntityId id, std::uint32_t epoch, ProcessId to, double now_s) {
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
    Writer& newest = slot_epochs_[id.index1];
    if (epoch > newest.epoch) newest = {epoch, to};
  } else {
    known.writer = {};
  }
}

}  // namespace reckoner::cluster
