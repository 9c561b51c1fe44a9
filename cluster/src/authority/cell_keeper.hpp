// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/authority/epoch_table.hpp"
#include "cluster/src/authority/grid.hpp"
#include "cluster/src/authority/members.hpp"
#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::cluster {

/// Which cells this simulator holds. It claims free cells, renews its leases, and hands cells over.
///
/// A simulator holds a cell while its lease runs and its epoch is the newest. Both come from compare-and-set
/// alone: what a read returns only serves the next compare-and-set.
class CellKeeper {
 public:
  using Send = std::function<void(ProcessId, const BusPayload&)>;

  /// All arguments but `self` must outlive the object.
  CellKeeper(const ClusterConfig& config, ProcessId self, Requests& requests, EpochTable& epochs,
             const Members& members, Send send, ClusterStats& stats);

  /// Renews, claims and rebalances. `entities(cell)` is the number of entities that this simulator holds in a
  /// cell.
  void run(double now_s, bool connected, bool leaving,
           const std::function<std::size_t(std::uint32_t)>& entities);

  /// Every holding is in doubt: this process was paused, or the bus was away. It holds no cell until it has
  /// asserted the epoch again.
  void doubt(double now_s);

  /// A batch or heartbeat names the holder of a cell. It counts once the table of epochs confirms it.
  void note_holder(std::uint32_t cell, ProcessId holder, std::uint32_t epoch, double now_s);
  /// The table of epochs was read for a cell.
  void settle(std::uint32_t cell, double now_s);

  void receive(const CellOffer& offer, double now_s, bool leaving);
  void receive(const CellAccept& accept, double now_s);
  void receive(const CellCommit& commit, double now_s);

  [[nodiscard]] bool holds(std::uint32_t cell) const { return cells_[cell].state == State::held; }
  /// The newest epoch of a cell that this process knows.
  [[nodiscard]] std::uint32_t epoch(std::uint32_t cell) const { return cells_[cell].epoch; }
  /// The process that holds a cell, as far as this one knows; null if none.
  [[nodiscard]] ProcessId holder(std::uint32_t cell) const;
  /// True if cells were claimed without the help of their last holder since the last call: their entities may
  /// be orphans. Also true if a process that started a short time ago got a cell.
  [[nodiscard]] bool has_claimed() { return std::exchange(claimed_, false); }
  [[nodiscard]] std::size_t held() const;

 private:
  enum class State : std::uint8_t { free, leasing, asserting, held, giving };
  struct Cell {
    State state = State::free;
    std::uint64_t lease_revision = 0;
    double leased_s = -1e300;  // when the last successful renewal was sent
    std::uint32_t epoch = 0;
    std::uint64_t epoch_revision = 0;
    std::uint64_t seen_revision = 0;  // of the table's entry that `epoch` and `holder` are from
    bool busy = false;                // a request about the lease is unanswered
    double tried_s = -1e300;
    // Of the last holder that this process knows.
    ProcessId holder;
    double heard_s = -1e300;
    ProcessId to;  // while offering and giving
    double offered_s = -1e300;
    double offer_began_s = -1e300;
    std::uint32_t turn = 0;  // answers to requests of an earlier turn are void
    // What a heartbeat or batch said while the table of epochs was being read.
    std::optional<EpochValue> claimed;
    // A commit that the table of epochs has not confirmed yet, and when it arrived.
    std::optional<CellCommit> commit;
    double commit_s = 0.0;
  };

  void claim(std::uint32_t index, double now_s);
  void retry_with_lease_of(std::uint32_t index, double now_s);
  void assert_epoch(std::uint32_t index, double now_s);
  void renew(std::uint32_t index, double now_s);
  void lose(std::uint32_t index);
  void give(std::uint32_t index, double now_s);
  void see_holder(std::uint32_t index, double now_s);
  void try_commit(std::uint32_t index, double now_s);
  void take(const CellCommit& commit, double now_s);
  void rebalance(double now_s, bool leaving, const std::function<std::size_t(std::uint32_t)>& entities);
  [[nodiscard]] bool wants(std::uint32_t index, double now_s) const;
  [[nodiscard]] double margin_s() const { return 0.1 * config_.lease_s; }

  const ClusterConfig& config_;
  Grid grid_;
  ProcessId self_;
  Requests& requests_;
  EpochTable& epochs_;
  const Members& members_;
  Send send_;
  ClusterStats& stats_;
  std::vector<Cell> cells_;
  double now_s_ = 0.0;
  std::optional<double> began_s_;  // first call of run(); empty before it
  double rebalanced_s_ = -1e300;
  bool claimed_ = false;
};

}  // namespace reckoner::cluster
