// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::harness {

// The figures leave out the pictures in these periods (see PictureCounts).
inline constexpr double kSkipRunS = 2.0;       ///< length of the period after the start of a run, s
inline constexpr double kSkipEntityS = 0.3;    ///< period after the first picture of an entity, s
inline constexpr double kSkipTeleportS = 0.7;  ///< length of the period after a declared teleport, s

/// Two times that were computed from different rates count as the same instant if they differ by less than
/// this, s.
inline constexpr double kRoundingS = 1e-9;

}  // namespace reckoner::harness
