// SPDX-License-Identifier: MIT
#include "server/src/state_sender.hpp"

#include <utility>

namespace reckoner {
namespace {

// Number of sessions that one worker processes at a time.
constexpr std::size_t kSessionGrain = 16;

// Largest number of ticks in a row that may leave their datagrams to a later tick.
constexpr int kMaxPostponed = 3;

}  // namespace

StateSender::StateSender(const ServerConfig& config, std::span<const Quantisation> quantisation,
                         const ServerTestSwitches& switches, const ServerTime& time, WorkerPool& pool,
                         const SessionTable& sessions, SharedMotions& motions, Transport& transport,
                         ServerStats& stats, TrafficCounter& traffic)
    : config_(config),
      quantisation_(quantisation),
      switches_(switches),
      time_(time),
      pool_(pool),
      sessions_(sessions),
      motions_(motions),
      transport_(transport),
      stats_(stats),
      traffic_(traffic),
      encodings_(pool.size()),
      snapshots_(pool.size()),
      fresh_(pool.size()) {}

void StateSender::send(ServerWorld& world, const Published& published, Tick tick, double now_s) {
  if (config_.rewind_s > 0.0) motions_.update(world.entities(), published);
  encodings_.begin(world.entities(), quantisation_, config_.tick_rate_hz);
  send_to_all({world.entities(), world.fields(), published, config_.archetypes, quantisation_, world.routes(),
               encodings_, tick, time_.at(tick), now_s, config_.tick_rate_hz,
               !world.fields().changes().empty(), postpone(tick, now_s), switches_.coding, &motions_,
               switches_.observer});
  world.fields().clear_changes();
  for (DatagramBuffer& buffer : datagrams_)
    flush(buffer, world.entities());
}

// True if this tick leaves its datagrams to the next tick, which is already due. Sending is most of the cost
// of a tick. If the server is late, the datagrams of this tick would be outdated at once.
bool StateSender::postpone(Tick tick, double now_s) {
  const bool postpones = now_s >= time_.at(tick + 1) && postponed_ < kMaxPostponed;
  postponed_ = postpones ? postponed_ + 1 : 0;
  return postpones;
}

// With one thread, writes and sends each client's datagrams in turn. With several threads, all datagrams are
// written first and sent afterwards, because only one thread may use the transport.
void StateSender::send_to_all(const TickInputs& inputs) {
  const std::span sessions = sessions_.all();
  const bool alone = pool_.size() == 1;
  const std::size_t shares = alone ? 1 : (sessions.size() + kSessionGrain - 1) / kSessionGrain;
  if (datagrams_.size() < shares) datagrams_.resize(shares);
  max_datagram_bytes_.resize(sessions.size());
  // A connection may change its path at any time (PipeServer::set_path()).
  const auto read_path = [&](std::size_t i) {
    const PeerId peer = sessions[i]->peer();
    max_datagram_bytes_[i] = transport_.max_datagram_bytes(peer);
    if (peer) sessions[i]->set_ordered(transport_.is_ordered(peer));
  };
  for (std::size_t i = 0; i < sessions.size() && !alone; ++i)
    read_path(i);
  pool_.run(sessions.size(), kSessionGrain, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (i + 2 < last) sessions[i + 2]->fetch();
      if (i + 1 < last) sessions[i + 1]->fetch_lists(inputs.published);
      if (alone) read_path(i);
      DatagramBuffer& buffer = datagrams_[alone ? 0 : i / kSessionGrain];
      WriteScratch scratch{worker, snapshots_[worker], fresh_[worker], buffer, traffic_.share(worker)};
      sessions[i]->write_datagrams(inputs, max_datagram_bytes_[i], scratch);
      if (alone) buffer.flush(transport_);
    }
  });
}

// Sends the waiting datagrams, adds up the statistics, and charges the repairs to the budgets of their
// entities, like other updates.
void StateSender::flush(DatagramBuffer& buffer, EntityTable& entities) {
  buffer.flush(transport_);
  stats_ += std::exchange(buffer.stats, {});
  for (const std::uint32_t stream : buffer.repaired)
    entities.slots()[stream / kLevels].levels[stream % kLevels].policy.update_sent();
  buffer.repaired.clear();
}

}  // namespace reckoner
