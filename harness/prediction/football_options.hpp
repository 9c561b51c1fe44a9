// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link_script.hpp"

#include <cstdint>

namespace reckoner::harness::football {

/// Who moves the player's own car at once.
enum class Approach : std::uint8_t {
  none,       ///< nobody: keys travel to the server, and the player sees the car like those of others
  ownership,  ///< the client decides (Server::give())
  prediction  ///< the client predicts, the server decides (Server::let_predict())
};

/// At which instant the player's game sees the cars of others, when its own car hits them.
enum class OthersAt : std::uint8_t {
  present,  ///< the server's present
  ahead     ///< the tick of the input, extrapolated
};

struct FootballOptions {
  LinkPair links;
  Approach approach = Approach::prediction;
  OthersAt others_at = OthersAt::ahead;
  bool predicts_ball = true;  ///< with Approach::prediction
  bool has_contacts = true;   ///< false: bodies pass through each other, so that only inputs matter
  double tick_rate_hz = 60.0;
  double frame_rate_hz = 60.0;
  std::uint32_t input_delay_ticks = 0;
  double seconds = 60.0;  ///< virtual time, s, after the first kWarmUpS, which do not count
  std::uint64_t seed = 1;
};

inline constexpr double kWarmUpS = 8.0;

}  // namespace reckoner::harness::football
