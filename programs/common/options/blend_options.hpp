// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <array>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner::program {

/// Options of programs that draw: how long a blend lasts, in frames, and how often the program draws.
struct BlendOptions {
  double blend_frames = 6.5;    ///< duration of a blend, frames; 0: corrections snap
  double frame_rate_hz = 60.0;  ///< frames per second

  /// The duration for PlayoutConfig::blend_s, s.
  [[nodiscard]] double blend_s() const { return frames_to_seconds(blend_frames, frame_rate_hz); }
};

/// The numbers of BlendOptions.
inline constexpr std::array kBlendSettings{
    setting<&BlendOptions::blend_frames>("blend_frames", "blend-frames", "frames", 0.0, 600.0,
                                         "corrections jump", "frames that a correction takes"),
    setting<&BlendOptions::frame_rate_hz>("frame_rate_hz", "frame-rate", "Hz", 1.0, 1000.0, "",
                                          "frames per second, Hz"),
};

}  // namespace reckoner::program
