// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/dispatcher.hpp"
#include "server/src/interest/entity_search.hpp"
#include "server/src/interest/interest.hpp"
#include "server/src/interest/playout_changes.hpp"
#include "server/src/lobby.hpp"
#include "server/src/mail/game_mail.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/publisher.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/server_events.hpp"
#include "server/src/server_log.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/delay_survey.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/server_time.hpp"
#include "server/src/util/worker_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

/// The parts of a server. server.cpp implements it.
struct Server::Impl {
  Impl(ServerConfig given, Transport& given_transport, const ServerTestSwitches& given_switches);

  /// The time to use for a call with the time `now_s`.
  [[nodiscard]] double checked(double now_s);
  void send(Tick tick, double now_s);
  [[nodiscard]] bool hold_back(Tick tick, double now_s);
  void finish_outbox(DatagramBuffer& datagrams);

  ServerConfig config;
  Transport& transport;
  std::vector<Quantisation> quantisation;  // index: archetype
  ServerTestSwitches switches;
  WorkerPool pool;
  ServerTime time;
  SharedMotions motions;  // of the clients' histories; empty without rewind
  Publisher publisher;
  Encodings encodings;
  std::vector<Snapshot> snapshots;                // scratch, one per worker
  std::vector<std::vector<std::uint32_t>> fresh;  // scratch, one per worker
  std::vector<DatagramBuffer> datagrams;          // scratch, one per group of sessions
  Interest interest;
  DelaySurvey delays;
  SessionTable sessions;
  ServerWorld world;
  EntitySearch search;
  PlayoutChanges playout;
  ServerLog log;
  ServerEvents events;
  GameMail mail;
  Lobby lobby;
  Dispatcher dispatcher;
  std::vector<std::size_t>
      // Scratch; for each session, the size of the largest datagram that can be sent, bytes.
      max_datagram_bytes;
  std::vector<SeenPose> seen;  // result of rewind()
  // One-way delay to the clients of other servers that show these entities, s (WorldAccess).
  std::optional<double> distant_delay_s;
  int held_back = 0;  // number of ticks in a row, up to now, that sent no datagrams
  ServerStats stats;
};

}  // namespace reckoner
