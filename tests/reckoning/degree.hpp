// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner {

/// A degree in radians.
inline constexpr double kDegree = 0.01745329251994329577;

}  // namespace reckoner
