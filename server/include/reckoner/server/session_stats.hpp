// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Figures of one client's session and connection (Server::session_stats()). They show whether a player's
/// complaint comes from the player's connection: a long round trip, loss, or a budget that is smaller than
/// what happens.
///
/// Bytes include 40 bytes of headers for each datagram: those of ENet, UDP and IPv4. An IPv6 header has 20
/// bytes more, and a seal (ServerSecurity) adds further bytes.
struct SessionStats {
  ClientId client;         ///< the client
  bool connected = false;  ///< false: the connection was lost, and the client may still resume
  /// Smoothed round trip, s, without the time that the client waits before it answers. 0: not measured yet.
  double round_trip_s = 0.0;
  double round_trip_deviation_s = 0.0;  ///< smoothed mean deviation of the round trip, s
  /// Share of recent datagrams to the client that were lost, 0 to 1: an exponential average over about 200.
  double loss = 0.0;

  double sent_bytes_per_second = 0.0;  ///< sent to the client in the last second, bytes/s
  /// The most that the server sends to the client at present, bytes/s: ServerConfig::bytes_per_second, or
  /// less if the client's connection carries less. 1e9 if neither limits it.
  double budget_bytes_per_second = 0.0;

  std::size_t entities = 0;              ///< number of entities that the client follows
  std::size_t queued_motions = 0;        ///< number of entities whose newest motion waits for the budget
  std::size_t queued_spawns = 0;         ///< entities whose spawn waits for the budget or the connection
  std::size_t queued_messages = 0;       ///< number of reliable game messages that wait or are not confirmed
  std::size_t queued_message_bytes = 0;  ///< total size of these messages, bytes

  /// Age of the motions that were sent recently, s: from the time stamp of a motion until it was sent. It is
  /// near 0 while the budget suffices. An exponential average over about 64 motions.
  double sent_age_s = 0.0;
  /// How long the client has lacked the oldest data that it lacks, s, when the last datagram was written.
  double behind_s = 0.0;

  std::uint64_t datagrams_sent = 0;  ///< state datagrams since the client joined
  std::uint64_t datagrams_lost = 0;  ///< state datagrams that count as lost since the client joined
  std::uint64_t bytes_sent = 0;      ///< bytes since the client joined
  std::uint64_t motions_sent = 0;    ///< motions in state datagrams since the client joined
};

}  // namespace reckoner
