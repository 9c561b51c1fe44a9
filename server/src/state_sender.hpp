// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/publish/encodings.hpp"
#include "server/src/publish/publisher.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/server_time.hpp"
#include "server/src/util/worker_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Sends to each client, at the end of a tick, what the client lacks. An update is encoded once for all
/// clients. The workers share the writing of datagrams, but only the calling thread uses the transport. The
/// bytes do not depend on the number of workers.
class StateSender {
 public:
  /// All arguments must outlive this object. `quantisation`: index: archetype. `motions` keeps the motions
  /// that the clients' histories share; it stays empty without rewind.
  StateSender(const ServerConfig& config, std::span<const Quantisation> quantisation,
              const ServerTestSwitches& switches, const ServerTime& time, WorkerPool& pool,
              const SessionTable& sessions, SharedMotions& motions, Transport& transport, ServerStats& stats,
              TrafficCounter& traffic);

  /// Sends the state of `tick`, in which `published` was published. `now_s` is the present server time, s. If
  /// the next tick is due already, this tick may leave its datagrams to that tick.
  void send(ServerWorld& world, const Published& published, Tick tick, double now_s);

 private:
  [[nodiscard]] bool postpone(Tick tick, double now_s);
  void send_to_all(const TickInputs& inputs);
  void flush(DatagramBuffer& buffer, EntityTable& entities);

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // index: archetype
  const ServerTestSwitches& switches_;
  const ServerTime& time_;
  WorkerPool& pool_;
  const SessionTable& sessions_;
  SharedMotions& motions_;
  Transport& transport_;
  ServerStats& stats_;
  TrafficCounter& traffic_;

  Encodings encodings_;
  std::vector<Snapshot> snapshots_;                // scratch, one per worker
  std::vector<std::vector<std::uint32_t>> fresh_;  // scratch, one per worker
  std::vector<DatagramBuffer> datagrams_;          // scratch, one per group of sessions
  std::vector<std::size_t> max_datagram_bytes_;    // scratch; index: session
  int postponed_ = 0;  // number of ticks in a row, up to now, that sent no datagrams
};

}  // namespace reckoner
