// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// Where the velocities and the angular velocities of entities come from. Prediction needs them: without a
/// velocity, the error of a moving entity exceeds the threshold in every tick.
enum class VelocitySource : std::uint8_t {
  /// From the game. While the game leaves the velocity of an entity at zero although its position changes,
  /// the velocity is estimated from the positions. The angular velocity is treated likewise.
  automatic,
  given,      ///< From the game, also if they are zero.
  estimated,  ///< Estimated from positions and orientations. The velocities from the game are ignored.
};

}  // namespace reckoner
