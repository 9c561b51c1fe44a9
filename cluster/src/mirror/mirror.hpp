// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/authority/epoch_table.hpp"
#include "cluster/src/authority/members.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "server/src/world_access.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::cluster {

/// Shows the entities of other simulators in this process's server: all of them in a gateway, those of the
/// neighbouring cells in a simulator. It reads the batches of the watched cells, refuses what the table of
/// epochs does not confirm, and asks for snapshots where it missed something.
class Mirror {
 public:
  using Send = std::function<void(ProcessId, const BusPayload&)>;

  /// What it knows of an entity. The entity is in the server, too.
  struct Known {
    std::uint32_t epoch = 0;
    std::uint32_t cell = 0;
    ProcessId writer;
    std::uint32_t archetype = 0;
    Tick tick = 0;                      ///< time stamp of the newest motion
    bool held = false;                  ///< this process holds it
    std::optional<double> missing_s{};  ///< since when its writer no longer describes it, s; empty: it does
  };

  /// All references must outlive the object. Entities of a silent writer fade to rest after `silence_s`.
  Mirror(const ClusterConfig& config, Server& server, ProcessId self, EpochTable& epochs,
         const Members& members, Send send, double silence_s, ClusterStats& stats);

  /// Shows these cells from now on, and forgets the entities in others.
  void watch(const std::set<std::uint32_t>& cells);
  [[nodiscard]] const std::set<std::uint32_t>& watched() const { return cells_; }

  /// `batch` comes from a member of the world, or claims to.
  void receive(const Batch& batch, double now_s);
  /// The table of epochs was read for these slots (EntityId::index1).
  void settle(const std::vector<std::uint32_t>& slots, double now_s);
  /// Asks for what is missing, and retries what waits for a frame. Call once per tick.
  void run(double now_s);

  [[nodiscard]] const Known* find(EntityId id) const;

  /// This process holds an entity of its server from now on. `revision` is that of its entry in the table of
  /// epochs.
  void hold(EntityId id, std::uint32_t epoch, std::uint32_t cell, std::uint32_t archetype,
            std::uint64_t revision);
  void move_held(EntityId id, std::uint32_t cell);
  /// Another process holds it from now on: it continues its motion until batches of the new holder arrive.
  void release(EntityId id, ProcessId to, double now_s);
  /// The entity has ended.
  void forget(EntityId id);

  /// Entities of this process for which a newer epoch of another writer arrived.
  [[nodiscard]] std::vector<EntityId> take_overtaken() { return std::exchange(overtaken_, {}); }
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Stream {
    bool started = false;
    std::uint32_t next = 0;
    double continued_s = -1e300;  // when the last batch in its order arrived
    bool incomplete = true;
    double asked_s = -1e300;
    double heard_s = -1e300;
    double noted_s = -1e300;
    std::optional<double> differs_since_s;  // the writer has another number of entities since then
    std::unordered_set<EntityId> members;
    std::unordered_set<EntityId> described;  // by the parts of a snapshot so far
  };
  using StreamKey = std::pair<std::uint32_t, ProcessId>;  // cell and writer
  using Record = std::variant<DescribedRecord, MotionRecord, FieldsRecord, GoneRecord>;
  // A record whose right to write is being read from the table.
  struct Postponed {
    Record record;
    StreamKey from;
    double since_s = 0.0;  // by the clock of the table
  };

  [[nodiscard]] bool continues(Stream& stream, const Batch& batch, double now_s);
  template <class R>
  void admit(const R& record, StreamKey from, double now_s);
  void postpone(Record record, EntityId id, StreamKey from);
  void refuse(const Record& record, EntityId id, std::uint32_t epoch, StreamKey from);
  void settle_slot(std::uint32_t slot, double now_s);
  void apply(const DescribedRecord& record, StreamKey from, double now_s);
  void apply(const MotionRecord& record, StreamKey from, double now_s);
  void apply(const FieldsRecord& record, StreamKey from, double now_s);
  void apply(const GoneRecord& record, StreamKey from, double now_s);
  void note_overtaken(EntityId id, std::uint32_t epoch);
  void repair(StreamKey from);
  void finish_snapshot(Stream& stream, const Batch& batch, double now_s);
  void remove_missing(double now_s);
  bool show(const EntityRecord& entity, double now_s);
  void note_motion(Known& known, std::uint32_t epoch, Tick tick, std::optional<Cause> cause);
  void join(EntityId id, Known& known, std::uint32_t cell, ProcessId writer);
  void remove(EntityId id);
  [[nodiscard]] static bool is_forgotten(const Stream& stream, double now_s);
  void count_stale(const Batch& batch);

  const ClusterConfig& config_;
  Server& server_;
  WorldAccess access_;
  ProcessId self_;
  EpochTable& epochs_;
  const Members& members_;
  Send send_;
  double silence_s_;
  ClusterStats& stats_;
  std::set<std::uint32_t> cells_;
  std::unordered_map<EntityId, Known> known_;
  std::unordered_map<std::uint32_t, EntityId> slot_entities_;
  std::map<StreamKey, Stream> streams_;
  std::unordered_map<std::uint32_t, std::vector<Postponed>> postponed_;  // by EntityId::index1
  std::size_t postponed_count_ = 0;
  struct Waiting {
    DescribedRecord record;
    ProcessId writer;
    double until_s = 0.0;
  };
  std::vector<Waiting> waiting_;  // for their frames
  std::vector<EntityId> missing_;
  std::vector<EntityId> overtaken_;
  double lag_weight_ = 1.0;
};

}  // namespace reckoner::cluster
