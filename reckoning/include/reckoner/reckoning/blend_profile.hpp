// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

struct BlendShape;

/// The curves of blends that a client can choose. Its server must know the curve, because lag compensation
/// computes what the client shows.
enum class BlendCurve : std::uint8_t {
  cubic,   ///< cubic_blend()
  damped,  ///< damped_blend()
};

/// The shape of a curve (blend.hpp). It lives as long as the program.
[[nodiscard]] RECKONER_RECKONING_API const BlendShape& blend_shape(BlendCurve curve);

/// How corrections are blended in.
struct BlendSettings {
  BlendCurve curve = BlendCurve::cubic;  ///< the curve of an ordinary blend
  double duration_s = 0.0;               ///< T: duration of an ordinary blend, s; 0: corrections jump
  /// True if both are equal.
  bool operator==(const BlendSettings&) const = default;
};

/// Named compromises between error and shaking. A short blend leaves less error, a long one shakes less.
/// docs/TUNING.md shows the measured figures of each.
enum class BlendProfile : std::uint8_t {
  /// The cubic of N. Caldwell's article ("Defeating Lag with Cubic Splines", GameDev.net, 2000), in 6.5
  /// frames at 60 Hz.
  article,
  balanced,  ///< less error than `article`, and as little acceleration at low rates of updates; the default
  accurate,  ///< the least error: for games in which players aim at each other
  gentle,    ///< the least shaking: for cameras that follow an entity, and close views
};

/// The curve and the duration of a profile. The durations are frames at 60 Hz.
[[nodiscard]] constexpr BlendSettings blend_settings(BlendProfile profile) {
  constexpr double kFramesHz = 60.0;
  switch (profile) {
    case BlendProfile::article:
      return {BlendCurve::cubic, 6.5 / kFramesHz};
    case BlendProfile::balanced:
      break;
    case BlendProfile::accurate:
      return {BlendCurve::damped, 6.5 / kFramesHz};
    case BlendProfile::gentle:
      return {BlendCurve::damped, 15.0 / kFramesHz};
  }
  return {BlendCurve::damped, 8.0 / kFramesHz};
}

}  // namespace reckoner
