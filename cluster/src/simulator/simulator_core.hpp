// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/authority/cell_keeper.hpp"
#include "cluster/src/authority/entity_ids.hpp"
#include "cluster/src/authority/epoch_table.hpp"
#include "cluster/src/authority/grid.hpp"
#include "cluster/src/authority/members.hpp"
#include "cluster/src/authority/name_lease.hpp"
#include "cluster/src/bus/requests.hpp"
#include "cluster/src/mail/waiting_mail.hpp"
#include "cluster/src/mirror/mirror.hpp"
#include "cluster/src/simulator/held_entity.hpp"
#include "cluster/src/simulator/null_transport.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/senders.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "server/src/world_access.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <reckoner/cluster/simulator.hpp>

namespace reckoner {
namespace cluster {

/// Ghosts of a silent simulator come to rest after this time, s.
inline constexpr double kGhostSilenceS = 1.0;
/// Time until the next attempt to recover an entity after a failed one, s.
inline constexpr double kRecoverAgainS = 0.5;
/// Attempts to take over an entity whose state the server refuses.
inline constexpr int kMostRecoveries = 5;

/// The parts of a simulator, and what they have in common. One file for each concern implements it.
struct SimulatorCore {
  SimulatorCore(const ClusterConfig& given, const WorldMember& given_member, Bus& given_bus,
                Server given_server, std::unique_ptr<NullTransport> given_transport, double now);

  [[nodiscard]] double world_s(double now) const { return now - member.epoch_s; }
  [[nodiscard]] Tick last_tick() const { return server.next_tick() - 1; }
  /// Sends a message to one process.
  void send(ProcessId to, const BusPayload& message) {
    bus.publish(inbox_subject(config.world, to, Role::simulator), encode(message, codec));
  }
  [[nodiscard]] Held* find(EntityId id) {
    const auto found = held.find(id);
    return found != held.end() ? &found->second : nullptr;
  }
  /// Why the game cannot change an entity that is not held.
  [[nodiscard]] CallError why_not_held(EntityId id) const {
    return server.state(id) ? CallError::owned : CallError::unknown_entity;
  }

  /// Decodes a message from the bus and passes it to one of the functions below. Counts malformed ones, and
  /// those of processes that are not members.
  void handle(const BusMessage& message);
  /// Continues what waited for reads of the table of epochs.
  void settle();

  // The right to write (epochs.cpp).
  /// Declares everything that this process holds doubtful: it was paused, or the bus was away. Nothing is
  /// written until the epochs are asserted again.
  void doubt();
  /// Writes the epoch of a new entity into the table.
  void confirm(EntityId id);
  /// Advances the epoch of a held entity to more than `at_least`. If another process has done so, the entity
  /// is lost. `revision` is the one of its entry in the table, as far as this process knows.
  void assert_entity(EntityId id, std::uint64_t revision, std::uint32_t at_least);
  void read_and_assert(EntityId id);
  /// Another process holds the entity.
  void lose(EntityId id);
  [[nodiscard]] bool may_write(const Held& h) const { return h.state != Held::State::asserting && !doubtful; }
  /// The cell of an entity. An entity in a frame is in the cell of the outermost frame. `before` is its last
  /// cell, for the hysteresis.
  [[nodiscard]] std::uint32_t cell_of(EntityId id, std::uint32_t before) const;
  /// The process that should hold an entity; null if it is this one or nobody is known.
  [[nodiscard]] ProcessId target_of(EntityId id, const Held& h) const;
  void move_between_cells();

  // Handover (handover.cpp).
  void offer_entities();
  void handle(const Offer& offer);
  void handle(const Accept& accept);
  void begin_commit(EntityId id, ProcessId to);
  void finish_commit(EntityId id, ProcessId to, std::uint64_t revision);
  void handle(const Commit& commit);
  void accept(const Commit& commit);
  void check_commits();
  void handle(const Done& done);
  void repeat_commits();
  void check_expected();
  /// Becomes the holder of an entity, by a commit, or by adoption with an older state. `memory` is what the
  /// last holder had learned about its motion.
  void take_over(EntityRecord entity, EntityBaggage baggage, std::uint32_t epoch, std::uint64_t revision,
                 bool adopted, const MotionFit::Memory& memory = {});

  // Checkpoints and recovery (recovery.cpp).
  void write_checkpoints();
  void recover();
  void recover(const BusEntry& stored, const BusEntry* stored_epoch);
  /// `stored` is what the table of epochs said, with the revision `revision`.
  void adopt(const CheckpointValue::Content& content, const EpochValue& stored, std::uint64_t revision,
             bool again);
  void read_and_adopt(const CheckpointValue::Content& content);
  [[nodiscard]] bool is_orphan(ProcessId holder) const {
    return holder == member.process || members.find(holder) == nullptr;
  }

  // Batches, snapshots, heartbeats (batches.cpp).
  /// What other processes need to show an entity; none if it was never published.
  [[nodiscard]] std::optional<EntityRecord> record_of(EntityId id, const Held& h) const;
  /// What the next holder of an entity needs beyond that.
  [[nodiscard]] EntityBaggage baggage_of(EntityId id, const Held& h) const;
  [[nodiscard]] Batch new_batch(std::uint32_t cell) const;
  /// The batch of this tick for a cell.
  [[nodiscard]] Batch& batch_of(std::uint32_t cell) {
    return batches.try_emplace(cell, new_batch(cell)).first->second;
  }
  void count_entities();
  void collect_batches();
  void send_batch(std::uint32_t cell, Batch& batch);
  void send_batches();
  void send_heartbeat();
  void watch_neighbours();
  void handle(const Batch& batch);
  void handle(const Ask& ask);
  void handle(const Heartbeat& heartbeat);

  // Offers of cells: CellKeeper decides.
  void handle(const CellOffer& m) { cells.receive(m, now_s, leaving); }
  void handle(const CellAccept& m) { cells.receive(m, now_s); }
  void handle(const CellCommit& m) { cells.receive(m, now_s); }

  // Game messages (messages.cpp).
  void handle(const Mail& mail);
  void handle(const MailReceived& received);
  void send_mail();

  ClusterConfig config;
  WorldMember member;
  Bus& bus;
  Requests requests;
  WorldCodec codec;
  ClusterStats stats;
  std::unique_ptr<NullTransport> transport;
  Server server;
  WorldAccess access;
  Grid grid;
  ReceivedSubjects subjects;
  EpochTable epochs;
  Members members;
  CellKeeper cells;
  Mirror mirror;
  EntityIds ids;
  NameLease name;

  std::map<EntityId, Held> held;
  std::map<EntityId, Committed> committed;
  std::map<EntityId, Expected> expected;
  struct OpenCommit {
    Commit commit;
    double since_s = 0.0;
  };
  // By entity and epoch. The table of epochs is being read.
  std::map<std::pair<EntityId, std::uint32_t>, OpenCommit> open_commits;
  std::set<EntityId> adopting;
  std::map<EntityId, int> damaged;  // attempts to take an entity over whose state the server has refused
  std::set<EntityId> unanswered;    // an attempt to adopt had no answer: the table may name this process
  std::map<std::uint32_t, Batch> batches;
  struct Stream {
    std::uint32_t sequence = 0;
    double sent_s = -1e300;
  };
  std::map<std::uint32_t, Stream> streams;  // by cell
  std::vector<std::size_t> entities_in;     // by cell
  std::deque<SimulatorEvent> events;
  std::deque<Queued> messages;
  WaitingMail waiting_mail;                                         // what is in `messages`, by sender
  std::map<std::pair<ProcessId, std::uint32_t>, double> snapshots;  // last ones, by receiver and cell
  std::vector<EntityId> published;
  std::vector<double> recover_at;
  double now_s = 0.0;
  double ticked_s = 0.0;
  double heartbeat_s = -1e300;
  std::uint64_t connects = 0;
  bool doubtful = false;   // no connection, or no member any more: nothing is written
  bool lost_name = false;  // another process has this one's name
  bool leaving = false;
  std::size_t cells_before = 0;
};

}  // namespace cluster

struct Simulator::Impl : cluster::SimulatorCore {
  using SimulatorCore::SimulatorCore;
};

}  // namespace reckoner
