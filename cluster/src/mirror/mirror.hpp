// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/wire/bus_messages.hpp"
#include "server/src/world_access.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::cluster {

/// Shows the entities of other simulators in this process's server: all of them in a gateway, those of the
/// neighbouring cells in a simulator. It reads the batches of the watched cells, refuses writes with an older
/// epoch than it has seen, and asks for snapshots where it missed something.
class Mirror {
 public:
  using Send = std::function<void(ProcessId, const BusPayload&)>;

  /// What it knows of an entity. The entity is in the server, too.
  struct Known {
    std::uint32_t epoch = 0;
    std::uint32_t cell = 0;
    ProcessId writer;
    std::uint32_t archetype = 0;
    Tick tick = 0;      ///< time stamp of the newest motion
    bool held = false;  ///< this process holds it
    /// Since when its writer no longer describes it, s; below 0: it does.
    double missing_s = -1.0;
  };

  /// All arguments must outlive the object. Entities of a silent writer fade to rest after `silence_s`.
  Mirror(const ClusterConfig& config, Server& server, ProcessId self, Send send, double silence_s,
         ClusterStats& stats);

  /// Shows these cells from now on, and forgets the entities in others.
  void watch(const std::set<std::uint32_t>& cells);
  [[nodiscard]] const std::set<std::uint32_t>& watched() const { return cells_; }

  void receive(const Batch& batch, double now_s);
  /// Asks for what is missing, and retries what waits for a frame. Call once per tick.
  void run(double now_s);

  [[nodiscard]] const Known* find(EntityId id) const;
  /// The newest epoch of the entities in a slot, of all that this process has seen.
  [[nodiscard]] std::uint32_t newest_epoch(EntityId id) const;
  [[nodiscard]] std::uint32_t newest_cell_epoch(std::uint32_t cell) const { return cell_epochs_[cell].epoch; }

  /// This process holds an entity of its server from now on.
  void hold(EntityId id, std::uint32_t epoch, std::uint32_t cell, std::uint32_t archetype);
  void move_held(EntityId id, std::uint32_t cell);
  /// Another process holds it from now on: it continues its motion until batches of the new holder arrive.
  void release(EntityId id, std::uint32_t epoch, ProcessId to, double now_s);
  /// The entity has ended.
  void forget(EntityId id);

  /// Entities of this process for which a newer epoch of another writer arrived.
  [[nodiscard]] std::vector<EntityId> take_overtaken() { return std::exchange(overtaken_, {}); }
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Writer {
    std::uint32_t epoch = 0;
    ProcessId process;
  };
  struct Stream {
    bool started = false;
    std::uint32_t next = 0;
    bool incomplete = true;
    double asked_s = -1e9;
    double heard_s = -1e9;
    double noted_s = -1e9;
    double differs_since_s =
        -1.0;  // the writer has another number of entities since then; below 0: it does not
    std::unordered_set<EntityId> members;
    std::unordered_set<EntityId> described;  // by the parts of a snapshot so far
  };
  using StreamKey = std::pair<std::uint32_t, ProcessId>;

  [[nodiscard]] bool admit(const Batch& batch);
  [[nodiscard]] bool admit(EntityId id, std::uint32_t epoch, ProcessId writer);
  [[nodiscard]] bool continues(Stream& stream, const Batch& batch);
  void apply(const DescribedRecord& record, const Batch& batch, double now_s);
  void apply(const MotionRecord& record, const Batch& batch, double now_s);
  void apply(const FieldsRecord& record, const Batch& batch);
  void apply(const GoneRecord& record, const Batch& batch);
  void finish_snapshot(Stream& stream, const Batch& batch, double now_s);
  void remove_missing(double now_s);
  bool show(const EntityRecord& entity, ProcessId writer, double now_s);
  void note_motion(Known& known, std::uint32_t epoch, Tick tick, std::optional<Cause> cause, double now_s);
  void join(EntityId id, Known& known, std::uint32_t cell, ProcessId writer);
  void remove(EntityId id);
  [[nodiscard]] static bool is_forgotten(const Stream& stream, double now_s);
  void count_stale(const Batch& batch);

  const ClusterConfig& config_;
  Server& server_;
  WorldAccess access_;
  ProcessId self_;
  Send send_;
  double silence_s_;
  ClusterStats& stats_;
  std::set<std::uint32_t> cells_;
  std::vector<Writer> cell_epochs_;
  std::unordered_map<std::uint32_t, Writer> slot_epochs_;
  std::unordered_map<EntityId, Known> known_;
  std::unordered_map<std::uint32_t, EntityId> slot_entities_;
  std::map<StreamKey, Stream> streams_;
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
