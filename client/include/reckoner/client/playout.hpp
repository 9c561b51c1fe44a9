// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// Which instant is shown.
enum class PlayoutMode : std::uint8_t {
  present,   ///< now, by prediction: no delay, an error of what could not be foreseen
  adaptive,  ///< a delay ago that follows the link, by interpolation
  delayed,   ///< a fixed delay ago, by interpolation
};

/// When entities are shown and how fast a correction is worked in.
struct PlayoutConfig {
  PlayoutMode mode = PlayoutMode::present;  ///< which instant
  double delay_s = 0.1;                     ///< delayed mode: how long ago, s, 0 to 2
  double max_delay_s = 1.0;                 ///< adaptive mode never goes further back, s
  double blend_frames = 6.5;                ///< T: frames that a correction takes; 0 snaps
  double frame_rate_hz = 60.0;              ///< what a frame is, for T
};

}  // namespace reckoner
