// SPDX-License-Identifier: MIT
#include "cluster/src/authority/cell_keeper.hpp"

#include "cluster/src/wire/subjects.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::cluster {
namespace {

constexpr double kTryClaimEveryS = 0.1;  // between two attempts to claim a cell
constexpr double kLookAroundS = 1.0;     // after its start, a process waits for the heartbeats of the others
constexpr double kYoungS = 15.0;
constexpr double kBackupS = 1.0;  // then any simulator claims a free cell, not only the designated one
constexpr double kOfferEveryS = 0.1;
constexpr double kOfferCellForS = 1.0;
constexpr double kRebalanceEveryS = 0.5;
constexpr std::size_t kMaxGiving = 4;  // cells that are offered at the same time
constexpr double kCellLoad = 0.25;     // an empty cell counts like this many entities
constexpr double kWorthIt = 1.2;       // a simulator gives cells away when it has this times the least load

}  // namespace

CellKeeper::CellKeeper(const ClusterConfig& config, ProcessId self, Requests& requests, EpochTable& epochs,
                       const Members& members, Send send, ClusterStats& stats)
    : config_(config),
      grid_(config),
      self_(self),
      requests_(requests),
      epochs_(epochs),
      members_(members),
      send_(std::move(send)),
      stats_(stats),
      cells_(grid_.size()) {}

ProcessId CellKeeper::holder(std::uint32_t index) const {
  const Cell& cell = cells_[index];
  if (cell.state == State::held) return self_;
  if (cell.holder == self_ || now_s_ - cell.heard_s > Members::kDeadS) return {};
  return cell.holder;
}

std::size_t CellKeeper::held() const {
  return static_cast<std::size_t>(std::count_if(cells_.begin(), cells_.end(),
                                                [](const Cell& cell) { return cell.state == State::held; }));
}

void CellKeeper::note_holder(std::uint32_t index, ProcessId holder, std::uint32_t epoch, double now_s) {
  if (holder == self_) return;
  switch (epochs_.check_cell(index, epoch, holder)) {
    case EpochTable::Verdict::confirmed:
      return see_holder(index, now_s);
    case EpochTable::Verdict::refuted:
      ++stats_.unconfirmed_refused;
      return;
    case EpochTable::Verdict::open:
      cells_[index].claimed = EpochValue{epoch, holder, 0};  // settle() continues
      return;
  }
}

// The table of epochs names another holder, which lives.
void CellKeeper::see_holder(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  const EpochValue& newest = epochs_.cell(index);
  const std::uint64_t revision = epochs_.cell_revision(index);
  if (cell.state != State::free && revision > cell.seen_revision) lose(index);
  if (cell.state != State::free && cell.state != State::leasing) return;
  cell.seen_revision = revision;
  cell.epoch = newest.epoch;
  cell.holder = newest.holder;
  cell.heard_s = now_s;
}

void CellKeeper::settle(std::uint32_t index, double now_s) {
  if (cells_[index].commit) try_commit(index, now_s);
  Cell& cell = cells_[index];
  const EpochValue& newest = epochs_.cell(index);
  const auto claimed = std::exchange(cell.claimed, std::nullopt);
  if (claimed && *claimed != newest) ++stats_.unconfirmed_refused;
  if (newest.epoch == 0 || newest.holder == self_) return;
  // What the table has said before is no sign of life.
  if (epochs_.cell_revision(index) <= cell.seen_revision && claimed != newest) return;
  if (members_.find(newest.holder) != nullptr) {
    see_holder(index, now_s);
  } else if (cell.state == State::free) {
    cell.epoch = newest.epoch;  // a claim continues from there
    cell.seen_revision = epochs_.cell_revision(index);
  }
}

void CellKeeper::doubt(double now_s) {
  for (std::uint32_t index = 0; index < cells_.size(); ++index) {
    Cell& cell = cells_[index];
    cell.heard_s = std::max(cell.heard_s, now_s);  // gives the holder time to answer
    if (cell.state == State::free) continue;
    // The lease may have ended and belong to another process by now, so it is acquired again.
    ++cell.turn;
    cell.busy = false;
    cell.state = State::free;
    cell.holder = {};
    cell.heard_s = -1e300;
    cell.tried_s = -1e300;
    claim(index, now_s);
  }
}

void CellKeeper::lose(std::uint32_t index) {
  Cell& cell = cells_[index];
  if (cell.state == State::held || cell.state == State::giving || cell.state == State::asserting)
    ++stats_.cells_lost;
  ++cell.turn;
  cell.busy = false;
  cell.state = State::free;
  cell.to = {};
}

// The designated simulator claims a free cell at once, any other one a while later.
bool CellKeeper::wants(std::uint32_t index, double now_s) const {
  const Cell& cell = cells_[index];
  if (cell.state != State::free || cell.busy || now_s - cell.tried_s < kTryClaimEveryS) return false;
  const double silent_s = now_s - std::max(cell.heard_s, *began_s_);
  if (cell.holder && silent_s < Members::kDeadS) return false;
  const auto simulators = members_.simulators();
  if (simulators.empty() || !members_.takes(self_)) return false;
  const std::size_t share = grid_.share_of(index, simulators.size());
  return simulators[share] == self_ || silent_s > Members::kDeadS + kBackupS;
}

void CellKeeper::claim(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  cell.state = State::leasing;
  cell.busy = true;
  cell.tried_s = now_s;
  const std::uint32_t turn = cell.turn;
  requests_.put_if(BusTable::leases, cell_key(index), encode_value(LeaseValue{self_}), 0,
                   [this, index, turn, now_s](const BusAnswer& answer) {
                     Cell& claimed = cells_[index];
                     if (claimed.turn != turn) return;
                     if (answer.status == BusAnswer::Status::done) {
                       claimed.lease_revision = answer.revision;
                       claimed.leased_s = now_s;
                       return assert_epoch(index, now_s_);
                     }
                     if (answer.status == BusAnswer::Status::conflict)
                       return retry_with_lease_of(index, now_s_);
                     claimed.state = State::free;
                     claimed.busy = false;
                   });
}

// A lease exists. If it is this process's own, because an answer was lost, or released, a compare-and-set
// with its revision decides.
void CellKeeper::retry_with_lease_of(std::uint32_t index, double now_s) {
  const std::uint32_t turn = cells_[index].turn;
  requests_.get(BusTable::leases, cell_key(index), [this, index, turn, now_s](const BusAnswer& answer) {
    Cell& cell = cells_[index];
    if (cell.turn != turn) return;
    const auto value = answer.status == BusAnswer::Status::done ? decode_lease(answer.value) : std::nullopt;
    if (!value || (value->holder && value->holder != self_)) {
      const bool was_mine = cell.state != State::leasing;
      if (was_mine) ++stats_.writes_refused;
      lose(index);
      if (value && value->holder && members_.find(value->holder) != nullptr) {
        cells_[index].holder = value->holder;
        cells_[index].heard_s = now_s_;
      }
      return;
    }
    requests_.put_if(BusTable::leases, cell_key(index), encode_value(LeaseValue{self_}), answer.revision,
                     [this, index, turn, now_s](const BusAnswer& written) {
                       Cell& renewed = cells_[index];
                       if (renewed.turn != turn) return;
                       if (written.status != BusAnswer::Status::done) return lose(index);
                       renewed.lease_revision = written.revision;
                       renewed.leased_s = now_s;
                       renewed.busy = false;
                       if (renewed.state == State::leasing) assert_epoch(index, now_s_);
                     });
  });
}

// Advances the epoch of a leased cell. Any answer but success starts again with the revision that is there,
// until the lease ends.
void CellKeeper::assert_epoch(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  cell.state = State::asserting;
  cell.busy = true;
  if (now_s - cell.leased_s > config_.lease_s - margin_s()) return lose(index);
  const std::uint32_t turn = cell.turn;
  requests_.get(BusTable::epochs, cell_key(index), [this, index, turn](const BusAnswer& read) {
    Cell& asserted = cells_[index];
    if (asserted.turn != turn) return;
    if (read.status == BusAnswer::Status::unavailable) return assert_epoch(index, now_s_);
    const auto stored = decode_epoch(read.value);
    const std::uint32_t epoch = next_epoch(std::max(stored ? stored->epoch : 0u, asserted.epoch));
    requests_.put_if(BusTable::epochs, cell_key(index), encode_value(EpochValue{epoch, self_, 0}),
                     read.status == BusAnswer::Status::done ? read.revision : 0,
                     [this, index, turn, epoch](const BusAnswer& written) {
                       Cell& won = cells_[index];
                       if (won.turn != turn) return;
                       if (written.status != BusAnswer::Status::done) return assert_epoch(index, now_s_);
                       won.state = State::held;
                       won.busy = false;
                       won.epoch = epoch;
                       won.epoch_revision = won.seen_revision = written.revision;
                       won.holder = self_;
                       (void)epochs_.note_cell(index, epoch, self_, written.revision);
                       claimed_ = true;
                       ++stats_.cells_claimed;
                     });
  });
}

void CellKeeper::renew(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  cell.busy = true;
  cell.tried_s = now_s;
  const std::uint32_t turn = cell.turn;
  requests_.put_if(BusTable::leases, cell_key(index), encode_value(LeaseValue{self_}), cell.lease_revision,
                   [this, index, turn, now_s](const BusAnswer& answer) {
                     Cell& renewed = cells_[index];
                     if (renewed.turn != turn) return;
                     if (answer.status == BusAnswer::Status::conflict)
                       return retry_with_lease_of(index, now_s_);
                     renewed.busy = false;
                     if (answer.status != BusAnswer::Status::done) return;
                     renewed.lease_revision = answer.revision;
                     renewed.leased_s = now_s;
                   });
}

void CellKeeper::run(double now_s, bool connected, bool leaving,
                     const std::function<std::size_t(std::uint32_t)>& entities) {
  now_s_ = now_s;
  if (!began_s_) began_s_ = now_s;
  if (!connected) began_s_ = std::max(*began_s_, now_s - kLookAroundS + 2.0 * Members::kHeartbeatS);
  for (std::uint32_t index = 0; index < cells_.size(); ++index) {
    Cell& cell = cells_[index];
    if (cell.state == State::held) {
      if (now_s - cell.leased_s > config_.lease_s - margin_s()) {
        lose(index);
        cell.holder = {};
      } else if (!cell.busy && connected && now_s - cell.tried_s > 0.25 * config_.lease_s) {
        renew(index, now_s);
      }
    }
    if (connected && !leaving && now_s - *began_s_ > kLookAroundS && wants(index, now_s)) claim(index, now_s);
    if (cell.commit) try_commit(index, now_s);
    if (cell.to && now_s - cell.offer_began_s > kOfferCellForS && cell.state == State::held) cell.to = {};
    if (cell.to && cell.state == State::held && now_s - cell.offered_s > kOfferEveryS) {
      cell.offered_s = now_s;
      send_(cell.to, CellOffer{self_, index, cell.epoch});
    }
  }
  if (connected && now_s - rebalanced_s_ > (leaving ? kOfferEveryS : kRebalanceEveryS)) {
    rebalanced_s_ = now_s;
    rebalance(now_s, leaving, entities);
  }
}

// Offers cells to the simulator with the least load, if that makes the loads more equal. A simulator that
// leaves offers all of its cells.
void CellKeeper::rebalance(double now_s, bool leaving,
                           const std::function<std::size_t(std::uint32_t)>& entities) {
  const auto load_of = [](const Heartbeat& h) {
    return static_cast<double>(h.entities) + kCellLoad * static_cast<double>(h.cells.size());
  };
  ProcessId least;
  double least_load = 0.0;
  for (const auto& [id, member] : members_.all()) {
    if (id == self_ || !members_.takes(id)) continue;
    if (least && load_of(member.newest) >= least_load) continue;
    least = id;
    least_load = load_of(member.newest);
  }
  if (!least) return;
  double load = 0.0;
  std::size_t giving = 0;
  for (std::uint32_t index = 0; index < cells_.size(); ++index) {
    if (cells_[index].state != State::held) continue;
    load += static_cast<double>(entities(index)) + kCellLoad;
    giving += cells_[index].to ? 1 : 0;
  }
  const std::size_t most = leaving ? cells_.size() : kMaxGiving;
  if (giving > 0 && !leaving) return;  // wait for the effect
  for (; giving < most && (leaving || load > kWorthIt * least_load + 1.0); ++giving) {
    std::optional<std::uint32_t> best;
    double best_rank = 0.0;
    for (std::uint32_t index = 0; index < cells_.size(); ++index) {
      if (cells_[index].state != State::held || cells_[index].to) continue;
      const double weight = static_cast<double>(entities(index)) + kCellLoad;
      const double after = std::max(load - weight, least_load + weight);
      if (!leaving && after >= load) continue;
      // Cells beside those of the other simulator keep the areas compact.
      double rank = -after;
      grid_.for_each_around(index, [&](std::uint32_t near) {
        if (holder(near) == least) rank += 0.05 * load;
      });
      if (!best || rank > best_rank) {
        best = index;
        best_rank = rank;
      }
    }
    if (!best) return;
    const double weight = static_cast<double>(entities(*best)) + kCellLoad;
    load -= weight;
    least_load += weight;
    cells_[*best].to = least;
    cells_[*best].offer_began_s = now_s;
    cells_[*best].offered_s = -1e300;
  }
}

void CellKeeper::receive(const CellOffer& offer, double now_s, bool leaving) {
  if (offer.cell >= cells_.size() || leaving) return;
  if (cells_[offer.cell].state != State::free) return;
  const auto verdict = epochs_.check_cell(offer.cell, offer.epoch, offer.from);
  if (verdict == EpochTable::Verdict::refuted) ++stats_.unconfirmed_refused;
  if (verdict != EpochTable::Verdict::confirmed) return;  // offers are repeated
  see_holder(offer.cell, now_s);
  send_(offer.from, CellAccept{self_, offer.cell, offer.epoch});
}

void CellKeeper::receive(const CellAccept& accept, double now_s) {
  if (accept.cell >= cells_.size()) return;
  Cell& cell = cells_[accept.cell];
  if (cell.state != State::held || cell.to != accept.from || cell.epoch != accept.epoch || cell.busy) return;
  give(accept.cell, now_s);
}

// Writes the new holder into the lease and the epoch, and then stops to hold the cell. If an answer is lost,
// the lease ends and the cell is claimed like any free one.
void CellKeeper::give(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  cell.state = State::giving;
  cell.busy = true;
  const std::uint32_t turn = cell.turn;
  const ProcessId to = cell.to;
  const std::uint32_t epoch = next_epoch(cell.epoch);
  const std::uint64_t epoch_revision = cell.epoch_revision;
  const auto failed = [this, index] { lose(index); };
  requests_.put_if(BusTable::leases, cell_key(index), encode_value(LeaseValue{to}), cell.lease_revision,
                   [=, this](const BusAnswer& leased) {
                     if (cells_[index].turn != turn) return;
                     if (leased.status != BusAnswer::Status::done) return failed();
                     requests_.put_if(
                         BusTable::epochs, cell_key(index), encode_value(EpochValue{epoch, to, 0}),
                         epoch_revision, [=, this](const BusAnswer& advanced) {
                           Cell& given = cells_[index];
                           if (given.turn != turn) return;
                           if (advanced.status != BusAnswer::Status::done) return failed();
                           send_(to, CellCommit{self_, index, epoch, leased.revision, advanced.revision});
                           (void)epochs_.note_cell(index, epoch, to, advanced.revision);
                           ++given.turn;
                           given.state = State::free;
                           given.busy = false;
                           given.to = {};
                           given.epoch = epoch;
                           given.seen_revision = advanced.revision;
                           given.holder = to;
                           given.heard_s = now_s_;
                           ++stats_.cells_given;
                         });
                   });
  (void)now_s;
}

// The table of epochs must name this process first.
void CellKeeper::receive(const CellCommit& commit, double now_s) {
  if (commit.cell >= cells_.size()) return;
  Cell& cell = cells_[commit.cell];
  if (cell.state != State::free && cell.state != State::leasing) return;
  if (cell.commit && epochs_.check_cell(commit.cell, cell.commit->epoch, self_, cell.commit_s) ==
                         EpochTable::Verdict::confirmed)
    return;  // that one comes first
  cell.commit = commit;
  cell.commit_s = now_s;
  try_commit(commit.cell, now_s);
}

void CellKeeper::try_commit(std::uint32_t index, double now_s) {
  Cell& cell = cells_[index];
  const CellCommit commit = *cell.commit;
  const bool awaits = cell.state == State::free || cell.state == State::leasing;
  const auto verdict = epochs_.check_cell(index, commit.epoch, self_, cell.commit_s);
  if (verdict == EpochTable::Verdict::open && awaits) return;
  cell.commit.reset();
  if (verdict == EpochTable::Verdict::refuted) ++stats_.unconfirmed_refused;
  if (verdict == EpochTable::Verdict::confirmed && awaits) take(commit, now_s);
}

void CellKeeper::take(const CellCommit& commit, double now_s) {
  Cell& cell = cells_[commit.cell];
  // A commit that was handled already: the table has named this process for long.
  if (cell.epoch_revision == epochs_.cell_revision(commit.cell)) return;
  // The lease was written by another process, at an unknown time. It must still run.
  const std::uint32_t turn = ++cell.turn;
  const std::uint64_t epoch_revision = epochs_.cell_revision(commit.cell);
  cell.state = State::asserting;
  cell.busy = true;
  cell.tried_s = now_s;
  requests_.put_if(BusTable::leases, cell_key(commit.cell), encode_value(LeaseValue{self_}),
                   commit.lease_revision,
                   [this, commit, turn, epoch_revision, now_s](const BusAnswer& answer) {
                     Cell& taken = cells_[commit.cell];
                     if (taken.turn != turn) return;
                     taken.busy = false;
                     taken.state = State::free;
                     if (answer.status != BusAnswer::Status::done) return;
                     taken.state = State::held;
                     taken.epoch = commit.epoch;
                     taken.epoch_revision = taken.seen_revision = epoch_revision;
                     taken.lease_revision = answer.revision;
                     taken.leased_s = now_s;
                     taken.holder = self_;
                     // A new process does not know who died shortly before it started.
                     claimed_ = claimed_ || (began_s_ && now_s_ - *began_s_ < kYoungS);
                   });
}

}  // namespace reckoner::cluster
