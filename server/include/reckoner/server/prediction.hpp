// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/prediction.hpp>

namespace reckoner {

/// How exactly a client must predict an entity (Server::let_predict()).
struct PredictionRules {
  /// The server corrects the client if its result is further from the server's state than this along an axis,
  /// m; 0.0001 to 100.
  double position_m = 0.01;
  /// The same for the orientation: rotation about any axis, rad; 0.0001 to 1.
  double angle_rad = 0.01;
};

/// What a player does in one tick (Server::input()).
struct PlayerInput {
  /// The game's bytes, at most kMaxInputBytes. Empty if the client has sent none, or none for too long
  /// (ServerConfig::repeat_input_s): let the player do nothing. Valid until the next call of receive() or
  /// tick().
  std::span<const std::byte> bytes;
  /// 0: this is the input of the tick. Otherwise that input has not arrived, and `bytes` is that of an
  /// earlier tick, which is used for this many ticks more than the player has sent it for.
  std::uint32_t repeated = 0;
  /// The client's Client::server_time_s() when the input was made, s, to a millisecond: the time for
  /// Server::pose_seen_by() and rewind(), if the input is a shot. To a tick if the datagram that carried the
  /// input first was lost. 0 if there is no input yet.
  double seen_s = 0.0;
};

/// Figures of one client's inputs and predictions, since it joined (Server::prediction_stats()).
struct PredictionStats {
  std::uint64_t ticks = 0;  ///< ticks for which the game asked for an input, since the first has arrived
  std::uint64_t ticks_repeated = 0;  ///< ticks whose input had not arrived in time
  std::uint64_t inputs_late = 0;     ///< inputs that arrived after their tick
  std::uint64_t inputs_refused = 0;  ///< inputs too far ahead of their tick, or long past
  std::uint64_t results = 0;  ///< results of the client that were compared, one for all entities of a tick
  std::uint64_t mispredicted = 0;  ///< results that were outside the tolerance
  std::uint64_t corrections = 0;   ///< corrections sent, with those that repeat one
};

}  // namespace reckoner
