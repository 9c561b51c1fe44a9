// SPDX-License-Identifier: MIT
#include "cluster/src/authority/epoch_table.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace reckoner::cluster {
namespace {

constexpr std::size_t kMostReading = 256;  // at a time; more wait
// The table is written before a message says so, but the write and the message take different paths, and
// a replica answers late. So a claim that is newer than the table has some time.
constexpr double kLateS = 0.3;
constexpr double kNoAnswerS = 2.0;  // a claim without any answer is refused after this time
constexpr double kPauseLeastS = 0.05;
constexpr double kPauseMostS = 0.25;
constexpr double kPauseOfOthersS = 0.01;
// Old claims for so long, and no confirmed one: the table is read again. It may have lost its last writes.
constexpr double kPersistsS = 1.0;
// A replica is never as late as this, so an older revision means that the table has lost writes.
constexpr double kReplicaLateS = 2.0;
constexpr double kBlocksEveryS = 0.1;
constexpr std::size_t kMostBeyond = 4096;

}  // namespace

void EpochTable::run(bool connected) {
  if (!connected) return;
  for (std::size_t left = queue_.size(); left > 0 && reading_ < kMostReading; --left) {
    const Key key = queue_.front();
    queue_.pop_front();
    Entry& entry = entry_of(key);
    if (now_s_ < entry.due_s) {
      queue_.push_back(key);
      continue;
    }
    entry.wanted = false;
    if (!entry.busy) read(key, entry);
  }
  if (!beyond_.empty()) read_blocks();
}

EpochTable::Verdict EpochTable::check_slot(EntityId id, std::uint32_t epoch, ProcessId writer,
                                           double since_s) {
  const auto found = slots_.find(id.index1);
  if (found == slots_.end() && id.index1 > taken_slots_) return check_block(id.index1, since_s);
  Entry& entry = found != slots_.end() ? found->second : slots_[id.index1];
  return check({false, id.index1}, entry, EpochValue{epoch, writer, id.generation}, since_s);
}

EpochTable::Verdict EpochTable::check_block(std::uint32_t index1, double since_s) {
  if (blocks_read_s_ >= since_s || now_s_ - since_s > kNoAnswerS) return Verdict::refuted;
  if (beyond_.size() >= kMostBeyond && !beyond_.contains(index1)) return Verdict::refuted;
  beyond_.insert(index1);
  read_blocks();
  return Verdict::open;
}

EpochTable::Verdict EpochTable::check(Key key, Entry& entry, const EpochValue& claim, double since_s) {
  if (claim.epoch == 0 || !claim.holder) return Verdict::refuted;
  if (claim == entry.value) {
    entry.refused_since_s.reset();
    return Verdict::confirmed;
  }
  if (claim.epoch <= entry.value.epoch) {
    if (!entry.refused_since_s) entry.refused_since_s = now_s_;
    if (now_s_ - *entry.refused_since_s > kPersistsS) {
      entry.refused_since_s = now_s_;
      want(key, entry, claim.holder);
    }
    return Verdict::refuted;
  }
  if (now_s_ - since_s > (entry.read_s >= since_s ? kLateS : kNoAnswerS)) return Verdict::refuted;
  want(key, entry, claim.holder);
  return Verdict::open;
}

bool EpochTable::is_holder(EntityId id, ProcessId process) {
  const auto found = slots_.find(id.index1);
  if (found != slots_.end()) {
    Entry& entry = found->second;
    if (entry.value.holder == process && entry.value.generation == id.generation) return true;
    want({false, id.index1}, entry, process);
  } else if (id.index1 > taken_slots_) {
    (void)check_block(id.index1, now_s_);
  } else {
    want({false, id.index1}, slots_[id.index1], process);
  }
  return false;
}

bool EpochTable::note(Entry& entry, const EpochValue& value, std::uint64_t revision) {
  if (revision < entry.revision && now_s_ - entry.known_s <= kReplicaLateS) return false;
  entry.value = value;
  entry.revision = revision;
  entry.known_s = now_s_;
  return true;
}

// Reads that change nothing are rare for the process whose claims cause them, so that the claims of others do
// not wait for them.
void EpochTable::want(Key key, Entry& entry, ProcessId asker) {
  if (entry.busy) return;
  const double due_s = entry.sent_s + (asker == entry.futile ? entry.pause_s : kPauseOfOthersS);
  if (entry.wanted && due_s >= entry.due_s) return;
  entry.asker = asker;
  entry.due_s = due_s;
  if (entry.wanted) return;
  if (now_s_ >= due_s && reading_ < kMostReading) return read(key, entry);
  entry.wanted = true;
  queue_.push_back(key);
}

void EpochTable::read(Key key, Entry& entry) {
  entry.busy = true;
  entry.sent_s = now_s_;
  ++reading_;
  ++stats_.table_reads;
  requests_.get(BusTable::epochs, key.is_cell ? cell_key(key.index) : slot_key(key.index - 1),
                [this, key, sent_s = now_s_](const BusAnswer& answer) { accept(key, sent_s, answer); });
}

void EpochTable::accept(Key key, double sent_s, const BusAnswer& answer) {
  Entry& entry = entry_of(key);
  entry.busy = false;
  --reading_;
  const EpochValue before = entry.value;
  if (answer.status != BusAnswer::Status::unavailable) {
    entry.read_s = sent_s;
    std::optional<EpochValue> stored;
    if (answer.status == BusAnswer::Status::missing) stored.emplace();
    if (answer.status == BusAnswer::Status::done) stored = decode_epoch(answer.value);
    if (!stored) ++stats_.malformed;
    if (stored) (void)note(entry, *stored, answer.revision);
  }
  if (entry.value != before) {
    entry.futile = {};
  } else {
    entry.pause_s =
        std::clamp(entry.asker == entry.futile ? 2.0 * entry.pause_s : 0.0, kPauseLeastS, kPauseMostS);
    entry.futile = entry.asker;
  }
  (key.is_cell ? read_cells_ : read_slots_).push_back(key.index);
}

void EpochTable::read_blocks() {
  if (blocks_busy_ || now_s_ < blocks_next_s_) return;
  blocks_busy_ = true;
  blocks_next_s_ = now_s_ + kBlocksEveryS;
  ++stats_.table_reads;
  requests_.get(BusTable::world, kIdsKey, [this, sent_s = now_s_](const BusAnswer& answer) {
    blocks_busy_ = false;
    if (answer.status == BusAnswer::Status::unavailable) return;
    blocks_read_s_ = sent_s;
    const auto stored = decode_ids(answer.value);
    if (stored) taken_slots_ = std::max(taken_slots_, stored->blocks * kSlotsInBlock);
    if (!stored && answer.status == BusAnswer::Status::done) ++stats_.malformed;
    for (const std::uint32_t index1 : std::exchange(beyond_, {})) {
      if (index1 <= taken_slots_) {
        want({false, index1}, slots_[index1], {});
      } else {
        read_slots_.push_back(index1);
      }
    }
  });
}

}  // namespace reckoner::cluster
