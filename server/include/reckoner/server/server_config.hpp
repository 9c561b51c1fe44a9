// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Settings that decide which entities are relevant to a client, and at which level of detail. Distances are
/// measured from the client's eye (Server::set_view()).
struct InterestConfig {
  /// Entities up to this distance are relevant, m. 0: entities at any distance are relevant. If the radius is
  /// above 0, a client without an eye sees only entities that are always relevant.
  double radius_m = 0.0;
  /// A relevant entity stays relevant until its distance is above radius_m * (1 + hysteresis). So an entity
  /// near the edge does not appear and disappear all the time. The distances of the levels of detail have the
  /// same hysteresis.
  double hysteresis = 0.15;
  /// Two distances, m. From the first distance on, the publish threshold is 4 times as large; from the second
  /// on, 16 times. The reason is that distant errors look small. 0: this level of detail is not used.
  std::array<double, 2> level_distance_m{0.0, 0.0};
  /// The interval at which the server determines the relevant entities of a client, s. An entity that spawns
  /// within the radius appears at once.
  double interval_s = 0.2;
};

/// Configuration of a server. The defaults suit a game with up to a few dozen players.
struct ServerConfig {
  double tick_rate_hz = 60.0;            ///< ticks per second
  double epoch_s = 0.0;                  ///< server time of tick 0, s
  std::vector<Archetype> archetypes{1};  ///< names must differ; every client must have equal archetypes
  std::uint32_t max_clients = 64;        ///< largest number of clients at once; the server refuses more
  std::uint32_t max_entities = 65'536;   ///< largest number of entities at once, at most kMaxEntities
  /// Most bytes per second to one client, including headers. 0: as much as the client's connection carries.
  std::size_t bytes_per_second = 256'000;
  /// True: send less to a client whose connection carries less. The server learns the capacity of the
  /// connection from delay and loss; this takes about the first second of a client. Set it to false for a LAN
  /// or for a measurement.
  bool follow_link = true;
  /// Datagrams with motions and fields per second to one client, Hz. Motions that are due between two of them
  /// wait, so headers cost less, and updates arrive later. Unreliable messages, and up to 16 spawns and ends
  /// of entities, do not wait, and take the waiting motions along. 0: one in every tick in which something is
  /// due.
  double send_rate_hz = 0.0;
  /// Game messages of one client that reach the game, per second, and their bytes per second. This bounds
  /// what one client can make a game pass on. Reliable messages beyond a rate wait, most of them at the
  /// client, and none is lost. Unreliable messages beyond a rate are refused. The messages of half a second
  /// may come at once. 0: no limit.
  double client_messages_per_second = 256.0;
  std::size_t client_message_bytes_per_second = 32'000;  ///< see client_messages_per_second
  double repeat_input_s = 0.2;  ///< a player's input that has not arrived is the one before, for this time, s
  double heartbeat_s = 0.25;    ///< a datagram goes to every client at least this often, s
  double join_timeout_s = 5.0;  ///< a connection that does not ask to join is closed after this time, s
  /// How long a client that lost its connection may resume its session over another connection, s. A resumed
  /// client keeps its id, and no reliable message is lost in either direction. 0: the session ends at once.
  /// If the server is full, the longest-disconnected session is evicted.
  double resume_s = 60.0;
  /// Budget of each entity, updates per second (token bucket). The threshold adapts to the budget. 0: no
  /// budget. At most one of updates_per_second and fixed_rate_hz may be above 0. If both are 0,
  /// Archetype::threshold_m decides when to publish.
  double updates_per_second = 0.0;
  double fixed_rate_hz = 0.0;  ///< publish every entity at this constant rate, Hz; 0: no fixed rate
  InterestConfig interest;     ///< which entities are relevant to which client; by default all to all
  /// How far back pose_seen_by() and rewind() go, s. This bounds lag compensation: older shots find nothing.
  /// The limit applies to the time of the shot, and also to the server time that the client was showing at
  /// that moment. 0: no lag compensation; clients do not report what they show.
  double rewind_s = 0.0;
  /// Number of threads that publish and encode, including the caller's. 0: one for each core of the machine.
  /// The sent data does not depend on the number of threads.
  unsigned threads = 1;
  /// Receives log records: clients that joined, left or were refused (with the reason), clients whose
  /// connection carries too little, and refused data. Empty: no log.
  LogSink log{};
};

/// Returns the first invalid setting as one line with the name, the value and the valid range. Returns
/// nullopt if all settings are valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_SERVER_API std::optional<Error> find_invalid_setting(const ServerConfig& config);

}  // namespace reckoner
