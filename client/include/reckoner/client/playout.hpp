// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {

/// Which instant the client shows.
enum class PlayoutMode : std::uint8_t {
  present,   ///< the present, by prediction: no delay, but prediction errors are visible
  adaptive,  ///< the past, by interpolation; the delay adapts to the connection
  delayed,   ///< the past, by interpolation; the delay is fixed
  /// the time of the player's inputs (Client::next_step()), by prediction: others are shown at the instant of
  /// the entities that the client predicts, with larger errors than in present mode. Before the game steps
  /// ticks, this is present mode
  ahead,
};

/// True if the mode shows the past. The other modes predict.
[[nodiscard]] constexpr bool is_buffered(PlayoutMode mode) {
  return mode == PlayoutMode::adaptive || mode == PlayoutMode::delayed;
}

/// Which instant the client shows and how fast it blends corrections.
struct PlayoutConfig {
  PlayoutMode mode = PlayoutMode::present;  ///< which instant
  double delay_s = 0.1;                     ///< delayed mode: delay, s
  double max_delay_s = 1.0;                 ///< adaptive mode: largest delay beyond one tick of the server, s
  double blend_s = frames_to_seconds(6.5, 60.0);  ///< T: duration of a blend, s; 0: corrections snap
};

}  // namespace reckoner
