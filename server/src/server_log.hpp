// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/refusal_log.hpp"
#include "server/src/session/session_table.hpp"

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// What a server has to say (ServerConfig::log). Costs nothing if nobody listens.
class ServerLog {
 public:
  /// A client is behind when what it is owed has waited so long, s, and has caught up when it waits no longer
  /// than that.
  static constexpr double kBehindS = 3.0;
  static constexpr double kCaughtUpS = 0.5;

  explicit ServerLog(LogSink sink) : sink_(std::move(sink)) {}

  void connected(PeerId peer) const;
  void joined(ClientId client, PeerId peer) const;
  void refused(PeerId peer, const std::string& why) const;
  void left(ClientId client, PeerId peer);
  /// Its connection is gone, and it may come back; or it has.
  void lost(ClientId client, PeerId peer) const;
  void back(ClientId client, PeerId peer) const;
  void closing(std::size_t clients) const;
  /// Of events, those from number `first` on: what owners were told.
  void owners(const std::deque<ServerEvent>& events, std::size_t first) const;

  /// After a tick; looks once a second at who has fallen behind, or caught up, and at what was refused.
  void review(const SessionTable& sessions, const ServerStats& stats, double tick_rate_hz, double now_s);

 private:
  LogSink sink_;
  RefusalLog refusals_;
  std::set<ClientId> behind_;
};

}  // namespace reckoner
