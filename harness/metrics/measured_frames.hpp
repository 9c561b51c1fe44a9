// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::harness {

// The figures leave out the frames in these periods (see FrameCounts).
inline constexpr double kSkipRunS = 2.0;       ///< after the start of a run, s
inline constexpr double kSkipEntityS = 0.3;    ///< after the first frame of an entity, s
inline constexpr double kSkipTeleportS = 0.7;  ///< after a declared teleport, s

/// Two times computed from different rates denote the same instant if they differ by less than this, s.
inline constexpr double kRoundingS = 1e-9;

}  // namespace reckoner::harness
