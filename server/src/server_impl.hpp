// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/dispatcher.hpp"
#include "server/src/interest/entity_search.hpp"
#include "server/src/interest/interest.hpp"
#include "server/src/interest/playout_changes.hpp"
#include "server/src/lobby.hpp"
#include "server/src/mail/game_mail.hpp"
#include "server/src/player_predictions.hpp"
#include "server/src/publish/publisher.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/server_events.hpp"
#include "server/src/server_log.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/delay_survey.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/state_sender.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/server_time.hpp"
#include "server/src/util/traffic_counter.hpp"
#include "server/src/util/worker_pool.hpp"
#include "server/src/world/distant_delay.hpp"
#include "server/src/world/frame_levers.hpp"

#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

/// The parts of a server, each after the parts that it uses. Server::tick() shows how they work together.
struct Server::Impl {
  Impl(ServerConfig given, Transport& given_transport, const ServerTestSwitches& given_switches);

  /// Makes a server. `config` must be valid.
  [[nodiscard]] static Server make(ServerConfig config, Transport& transport,
                                   const ServerTestSwitches& switches = {}) {
    return Server{std::make_unique<Impl>(std::move(config), transport, switches)};
  }
  [[nodiscard]] static Impl& of(Server& server) { return *server.impl_; }

  /// The time to use for a call with the time `now_s`.
  [[nodiscard]] double checked(double now_s);

  ServerConfig config;
  Transport& transport;
  ServerTestSwitches switches;
  std::vector<Quantisation> quantisation;  // index: archetype
  ServerStats stats;
  ServerLog log;
  ServerEvents events;
  WorkerPool pool;
  TrafficCounter traffic;
  ServerTime time;
  Publisher publisher;
  Interest interest;
  SharedMotions motions;  // must outlive the sessions
  SessionTable sessions;
  ServerWorld world;
  PlayerPredictions predictions;
  EntitySearch search;
  FrameLevers levers;
  DelaySurvey delays;
  DistantDelay distant_delay;
  PlayoutChanges playout;
  GameMail mail;
  Lobby lobby;
  Dispatcher dispatcher;
  StateSender sender;
  std::vector<SeenPose> seen;        // result of rewind()
  std::vector<Session*> recipients;  // scratch of broadcast()
};

}  // namespace reckoner
