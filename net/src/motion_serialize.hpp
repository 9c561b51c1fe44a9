// SPDX-License-Identifier: MIT
#pragma once

#include "bit_archive.hpp"

#include <algorithm>

#include <reckoner/net/motion_codec.hpp>

namespace reckoner {

// No number of steps needs more: 2^47 steps of a millimetre are a thousand times the way to the moon.
inline constexpr unsigned kMostStateBits = 48;

/// Bits of an orientation component at a precision: as the steps are halved, one more.
inline unsigned orientation_bits_at(unsigned orientation_bits, std::uint8_t precision) {
  if (orientation_bits == 0) return 0;
  return std::clamp(orientation_bits + precision - kUnitPrecision, 8u, 15u);
}

/// A full state in `orientation_bits` per component (0: without orientation); writes and reads.
template <class Archive>
void serialize_state(Archive& archive, QuantisedState& state, unsigned orientation_bits) {
  archive(wire::ranged(state.teleports, 0, kTeleportModulus - 1),
          wire::ranged(state.precision, 0, kMostPrecision));
  archive(wire::signed3(state.position, kMostStateBits), wire::signed3(state.velocity, kMostStateBits),
          wire::signed3(state.acceleration, kMostStateBits));
  if (orientation_bits == 0) return;
  const unsigned bits = orientation_bits_at(orientation_bits, state.precision);
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  archive(wire::ranged(state.largest, 0, 3));
  for (std::int64_t& component : state.orientation)
    archive(wire::ranged(component, -most, most));
  archive(wire::signed3(state.angular_velocity, kMostStateBits));
}

}  // namespace reckoner
