// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/velocity_log.hpp"
#include "net/src/transport/refusal_log.hpp"
#include "server/src/session/session_table.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Writes the server's log lines to ServerConfig::log. Costs nothing if no sink is set.
class ServerLog {
 public:
  /// A client has fallen behind when its oldest unsent update is older than this, s.
  static constexpr double kBehindS = 3.0;
  /// A client has caught up when its oldest unsent update is younger than this, s.
  static constexpr double kCaughtUpS = 0.5;

  explicit ServerLog(LogSink sink) : sink_(std::move(sink)) {}

  /// The server works with `started` threads instead of `wanted`.
  void threads(unsigned started, unsigned wanted) const;
  void connected(PeerId peer) const;
  void joined(ClientId client, PeerId peer) const;
  void refused(PeerId peer, const std::string& why) const;
  void left(ClientId client, PeerId peer);
  /// The client lost its connection; it may resume its session.
  void lost(ClientId client, PeerId peer) const;
  /// The client resumed its session over a new connection.
  void back(ClientId client, PeerId peer) const;
  void closing(std::size_t clients) const;
  /// Logs the owner events (corrected or refused motions) in `events`, from index `first` on.
  void owner_events(const std::deque<ServerEvent>& events, std::size_t first) const;

  /// The game leaves velocities at zero although entities move (VelocityWatch::Missing, by archetype). Logs
  /// each archetype once for velocities and once for angular velocities.
  void missing_velocities(std::span<const Archetype> archetypes, std::span<const std::uint8_t> missing);

  /// Call after every tick. Once a second it logs the clients that have fallen behind or caught up, and the
  /// payloads that were refused since the last such log line.
  void review(const SessionTable& sessions, const ServerStats& stats, double tick_rate_hz, double now_s);

 private:
  LogSink sink_;
  RefusalLog refusals_;
  std::set<ClientId> behind_;
  VelocityLog velocities_;
};

}  // namespace reckoner
