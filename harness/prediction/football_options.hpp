// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"
#include "harness/sim/link_script.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reckoner/client/playout.hpp>
#include <reckoner/server/prediction.hpp>

namespace reckoner::harness::football {

/// Who moves the player's own car at once.
enum class Approach : std::uint8_t {
  none,       ///< nobody: keys travel to the server, and the player sees the car like those of others
  ownership,  ///< the client decides (Server::give())
  prediction  ///< the client predicts, the server decides (Server::let_predict())
};

/// Where the player's game has the cars of others when its own car hits them.
enum class OthersAt : std::uint8_t {
  present,  ///< in the server's present (Client::motion_at())
  ahead,    ///< at the tick of the input, extrapolated (Client::motion_at())
  stepped  ///< at the tick of the input: the game steps them from what is known, with the keys that they hold
};

/// The names of OthersAt, in its order.
inline constexpr std::array<std::string_view, 3> kOthersNames{"present", "ahead", "stepped"};
[[nodiscard]] constexpr std::string_view name_of(OthersAt others) {
  return kOthersNames[static_cast<std::size_t>(others)];
}

struct FootballOptions {
  LinkPair links;
  LinkScript script;  ///< changes of `links`; its times count from the beginning of the warm-up
  Approach approach = Approach::prediction;
  OthersAt others_at = OthersAt::stepped;
  PlayoutMode mode = PlayoutMode::present;  ///< how entities are shown that the client does not predict
  PredictionRules rules;                    ///< when a result of a client is a misprediction
  bool predicts_ball = true;                ///< with Approach::prediction
  bool has_contacts = true;     ///< false: bodies pass through each other, so that only inputs matter
  std::size_t players = kCars;  ///< 1 to kCars; the other cars stand still
  double tick_rate_hz = 60.0;   ///< 20 to 128
  double frame_rate_hz = 60.0;  ///< pictures of each player, 30 to 240
  double send_rate_hz = 0.0;    ///< datagrams with motions per second to each client; 0: in every tick
  std::uint32_t input_delay_ticks = 0;    ///< ClientConfig::input_delay_ticks
  std::uint32_t inputs_per_datagram = 1;  ///< ClientConfig::inputs_per_datagram
  double smoothing = 0.85;                ///< factor of the second display that shrinks errors exponentially
  double seconds = 60.0;                  ///< virtual time after the first kWarmUpS, which do not count, s
  std::uint64_t seed = 1;                 ///< of the players and of the network
};

/// Until all players have joined and their clocks are known, s.
inline constexpr double kWarmUpS = 8.0;

}  // namespace reckoner::harness::football
