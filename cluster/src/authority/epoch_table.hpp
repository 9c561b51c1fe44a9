// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::cluster {

/// What this process has read from the table of epochs, which decides who may write a cell or an entity. A
/// claim of another process counts only if the table names that process with that epoch: a number in a
/// message alone changes nothing here. Slots beyond the blocks of ids that the world has taken are refused
/// without a look at the table.
///
/// A claim with a newer epoch than the table had when it was read last is `open` until the table was read
/// again. Reads of one key are paced, so claims that the table never confirms cost little.
class EpochTable {
 public:
  /// What the table says about a claim.
  enum class Verdict : std::uint8_t {
    confirmed,  ///< it names the process with this epoch
    refuted,    ///< it names another process, or no read has confirmed the claim in time
    open,       ///< it is being read: ask again when take_read_slots() or take_read_cells() names the key
  };

  /// `requests` and `stats` must outlive the object. `cells` is the number of cells of the world.
  EpochTable(std::uint32_t cells, Requests& requests, ClusterStats& stats)
      : requests_(requests), stats_(stats), cells_(cells) {}

  /// The present time, s. Call it before anything else in each pass.
  void begin(double now_s) { now_s_ = now_s; }
  [[nodiscard]] double now_s() const { return now_s_; }
  /// Sends the reads that are due. Call it once per tick.
  void run(bool connected);

  /// Checks that `writer` may write an entity with this epoch. `since_s` is when the claim arrived, by the
  /// clock of begin().
  Verdict check_slot(EntityId id, std::uint32_t epoch, ProcessId writer, double since_s);
  Verdict check_slot(EntityId id, std::uint32_t epoch, ProcessId writer) {
    return check_slot(id, epoch, writer, now_s_);
  }
  /// Checks that `writer` holds a cell with this epoch.
  Verdict check_cell(std::uint32_t index, std::uint32_t epoch, ProcessId writer, double since_s) {
    return check({true, index}, cells_[index], EpochValue{epoch, writer, 0}, since_s);
  }
  Verdict check_cell(std::uint32_t index, std::uint32_t epoch, ProcessId writer) {
    return check_cell(index, epoch, writer, now_s_);
  }
  /// True if the table names this process as the holder of an entity. Otherwise it is read again soon.
  bool is_holder(EntityId id, ProcessId process);

  /// This process has written the table, or read it itself. Returns false if something newer is known.
  bool note_slot(EntityId id, std::uint32_t epoch, ProcessId holder, std::uint64_t revision) {
    return note(slots_[id.index1], EpochValue{epoch, holder, id.generation}, revision);
  }
  bool note_cell(std::uint32_t index, std::uint32_t epoch, ProcessId holder, std::uint64_t revision) {
    return note(cells_[index], EpochValue{epoch, holder, 0}, revision);
  }

  /// The newest epoch of a slot or a cell, 0 if the table has none as far as this process knows.
  [[nodiscard]] std::uint32_t slot_epoch(EntityId id) const {
    const auto found = slots_.find(id.index1);
    return found != slots_.end() ? found->second.value.epoch : 0;
  }
  [[nodiscard]] std::uint64_t slot_revision(EntityId id) const {
    const auto found = slots_.find(id.index1);
    return found != slots_.end() ? found->second.revision : 0;
  }
  [[nodiscard]] const EpochValue& cell(std::uint32_t index) const { return cells_[index].value; }
  [[nodiscard]] std::uint64_t cell_revision(std::uint32_t index) const { return cells_[index].revision; }

  /// Removes and returns the slots (EntityId::index1) and cells that were read.
  [[nodiscard]] std::vector<std::uint32_t> take_read_slots() { return std::exchange(read_slots_, {}); }
  [[nodiscard]] std::vector<std::uint32_t> take_read_cells() { return std::exchange(read_cells_, {}); }

 private:
  struct Key {
    bool is_cell = false;
    std::uint32_t index = 0;  // of the cell, or EntityId::index1
  };
  struct Entry {
    EpochValue value;  // epoch 0: the table has none
    std::uint64_t revision = 0;
    double known_s = -1e300;  // when the value was written or read last
    double read_s = -1e300;   // when the last answered read was sent
    double sent_s = -1e300;   // when the last read was sent
    ProcessId asker;          // whose claim it was for
    ProcessId futile;         // the last one whose claim was not confirmed by a read
    double pause_s = 0.0;     // between reads for its claims
    double due_s = 0.0;       // of the next read, while it is wanted
    std::optional<double>
        refused_since_s;  // since when old claims arrive and no confirmed one; empty: they do not
    bool wanted = false;  // in queue_
    bool busy = false;    // being read
  };

  Verdict check(Key key, Entry& entry, const EpochValue& claim, double since_s);
  Verdict check_block(std::uint32_t index1, double since_s);
  bool note(Entry& entry, const EpochValue& value, std::uint64_t revision);
  [[nodiscard]] Entry& entry_of(Key key) { return key.is_cell ? cells_[key.index] : slots_[key.index]; }
  void want(Key key, Entry& entry, ProcessId asker);
  void read(Key key, Entry& entry);
  void accept(Key key, double sent_s, const BusAnswer& answer);
  void read_blocks();

  Requests& requests_;
  ClusterStats& stats_;
  double now_s_ = 0.0;
  std::vector<Entry> cells_;
  std::unordered_map<std::uint32_t, Entry> slots_;  // by EntityId::index1
  std::deque<Key> queue_;                           // to be read when it is time
  std::size_t reading_ = 0;
  std::vector<std::uint32_t> read_slots_;
  std::vector<std::uint32_t> read_cells_;

  std::uint32_t taken_slots_ = 0;  // in the blocks that the world has taken
  double blocks_read_s_ = -1e300;  // when the last answered read of their number was sent
  double blocks_next_s_ = -1e300;
  bool blocks_busy_ = false;
  std::unordered_set<std::uint32_t> beyond_;  // claimed slots that wait for that number
};

}  // namespace reckoner::cluster
