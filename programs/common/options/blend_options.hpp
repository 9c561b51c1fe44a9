// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <array>
#include <cstddef>
#include <string>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/blend_profile.hpp>

namespace reckoner::program {

/// The names of BlendProfile and of BlendCurve in options, in the order of the enumerators.
inline constexpr std::array kBlendProfileNames{"article", "balanced", "accurate", "gentle"};
inline constexpr std::array kBlendCurveNames{"cubic", "damped"};

/// The names of a profile and of a curve that a user chose. Both must be known.
struct BlendChoice {
  std::string profile = "balanced";
  std::string curve{};  ///< empty: that of the profile

  [[nodiscard]] BlendSettings settings() const {
    BlendSettings blend;
    for (std::size_t i = 0; i < kBlendProfileNames.size(); ++i) {
      if (profile == kBlendProfileNames[i]) blend = blend_settings(static_cast<BlendProfile>(i));
    }
    for (std::size_t i = 0; i < kBlendCurveNames.size(); ++i) {
      if (curve == kBlendCurveNames[i]) blend.curve = static_cast<BlendCurve>(i);
    }
    return blend;
  }
};

/// Options of programs that draw: how long a blend lasts, in frames, and how often the program draws.
struct BlendOptions {
  double blend_frames = 8.0;    ///< duration of a blend, frames; 0: corrections snap
  double frame_rate_hz = 60.0;  ///< frames per second

  /// The duration for PlayoutConfig::blend_s, s.
  [[nodiscard]] double blend_s() const { return frames_to_seconds(blend_frames, frame_rate_hz); }
};

/// The numbers of BlendOptions.
inline constexpr std::array kBlendSettings{
    setting<&BlendOptions::blend_frames>("blend_frames", "blend-frames", "frames", 0.0, 600.0,
                                         "corrections jump",
                                         "frames that a correction takes, instead of the profile's"),
    setting<&BlendOptions::frame_rate_hz>("frame_rate_hz", "frame-rate", "Hz", 1.0, 1000.0, "",
                                          "frames per second, Hz"),
};

}  // namespace reckoner::program
