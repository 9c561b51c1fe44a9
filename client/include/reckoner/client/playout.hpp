// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/blend_profile.hpp>

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

/// Which instant the client shows and how it blends corrections in.
struct PlayoutConfig {
  PlayoutMode mode = PlayoutMode::present;  ///< which instant
  double delay_s = 0.1;                     ///< delayed mode: delay, s
  double max_delay_s = 1.0;                 ///< adaptive mode: largest delay beyond one tick of the server, s
  /// The curve of blends.
  BlendCurve blend_curve = blend_settings(BlendProfile::balanced).curve;
  /// T: duration of a blend, s; 0: corrections snap.
  double blend_s = blend_settings(BlendProfile::balanced).duration_s;

  /// Sets the curve and the duration of blends to those of a profile.
  constexpr void use(BlendProfile profile) {
    blend_curve = blend_settings(profile).curve;
    blend_s = blend_settings(profile).duration_s;
  }
};

}  // namespace reckoner
