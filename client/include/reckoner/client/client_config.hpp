// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/client/playout.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How a client with a Dialer reconnects after it has joined once (docs/connections.md).
struct ReconnectConfig {
  double silence_s = 5.0;     ///< a connection on which nothing arrived for this time is lost, s
  double first_wait_s = 0.5;  ///< longest wait before the first attempt, and before each other server, s
  double growth = 2.0;        ///< the wait grows by this factor after all servers have failed
  double most_wait_s = 10.0;  ///< longest wait before any attempt, s
  double jitter = 0.5;        ///< share of each wait that is random, so that clients spread out
  double attempt_s = 6.0;     ///< an attempt that has not succeeded after this time has failed, s
  double give_up_s = 0.0;     ///< the client stops its attempts after this time, s; 0: never
};

/// Configuration of a client.
struct ClientConfig {
  std::vector<Archetype> archetypes{1};  ///< equal to the server's, in equal order
  PlayoutConfig playout;                 ///< which instant to show, and how fast to blend
  /// The client shows the world at the local time of Client::update() plus this time, 0 to 0.2 s. Set it to
  /// the time until a picture appears on the screen. In present mode, motion is extrapolated further by this
  /// time; a fixed delay becomes shorter by it. In ahead mode it has no effect while the game steps ticks.
  /// With lag compensation, the player sees the instant Client::server_time_s() + show_ahead_s, so this is
  /// the stamp of a shot (Server::pose_seen_by()).
  double show_ahead_s = 0.0;
  double ack_interval_s = 0.05;  ///< received datagrams are acknowledged this often, s
  double silence_s = 1.0;        ///< all motion fades to rest if the connection is silent for longer, s
  /// An entity fades to rest if the server neither updates nor confirms it for this time, s. That happens if
  /// the server cannot send this client everything that it should.
  double unconfirmed_s = 5.0;
  /// An input takes effect this number of ticks after the game gives it, 0 to 3. A delay makes the game
  /// respond later, and fewer predictions wrong: other players learn of the input earlier.
  std::uint32_t input_delay_ticks = 0;
  /// Every datagram with inputs carries at least this number of new ones, 1 to 4. More save headers, and
  /// delay inputs.
  std::uint32_t inputs_per_datagram = 1;
  /// Budget of updates per second of each entity that this client owns. 0: its thresholds decide.
  double owned_updates_per_second = 0.0;
  /// Largest number of entities that the client keeps at once, so that a faulty or hostile server cannot fill
  /// its memory; 1 to kMaxEntities. The client refuses further entities: they are never shown, also not after
  /// others have ended (ClientStats::entities_refused). At least the number of entities that the server finds
  /// relevant for one client, and those that have just ended.
  std::uint32_t max_entities = 65'536;
  ReconnectConfig reconnect;  ///< how a client with a Dialer reconnects
  /// Receives log records: the client joined, was refused or lost its connection (with the reason), its clock
  /// stepped, data from the server was refused. Empty: no log.
  LogSink log{};
};

/// Returns the first invalid setting, in one line that names it, its value and its range; nullopt if all are
/// valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const ClientConfig& config);
/// Returns the first invalid playout setting, in one line that names it, its value and its range; nullopt if
/// all are valid.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const PlayoutConfig& playout);

}  // namespace reckoner
