// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::harness {

// Frames that the figures leave out (EVALUATION.md, "Figures").
inline constexpr double kSkipRunS = 2.0;       ///< from the start of a run, s
inline constexpr double kSkipEntityS = 0.3;    ///< from the first frame of an entity, s
inline constexpr double kSkipTeleportS = 0.7;  ///< from a declared teleport, s

/// Two times that are computed from different rates and mean the same instant differ by less, s.
inline constexpr double kRoundingS = 1e-9;

}  // namespace reckoner::harness
