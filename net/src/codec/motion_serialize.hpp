// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/wire/bit_archive.hpp"
#include "net/src/wire/prefix_code.hpp"

#include <algorithm>

namespace reckoner {

// Sufficient for every number of steps: 2^47 steps of a millimetre are 1.4e11 m, nearly the distance to the
// sun.
inline constexpr unsigned kStateBits = 48;
inline constexpr unsigned kRateBits = 31;

/// Bits of an orientation component at a precision: one more bit for each halving of the steps.
inline unsigned orientation_bits_at(unsigned orientation_bits, std::uint8_t precision) {
  if (orientation_bits == 0) return 0;
  const int bits = static_cast<int>(orientation_bits) + precision - kUnitPrecision;
  return static_cast<unsigned>(std::clamp(bits, 8, 15));
}

/// A signed number that is usually small. It is folded (0, -1, 1, -2, ... become 0, 1, 2, 3, ...) and written
/// with a Golomb code of order `k`.
template <class Archive>
void serialize_folded(Archive& archive, std::int32_t& value, unsigned k) {
  auto folded = static_cast<std::uint32_t>(wire::fold(value));
  archive(wire::golomb(folded, k));
  value = static_cast<std::int32_t>(wire::unfold(folded));
}

/// A motion on a route. The code orders suit a walk of minutes at a few metres per second with the default
/// threshold.
template <class Archive>
void serialize_along(Archive& archive, QuantisedRouteState& along) {
  constexpr unsigned kRouteOrder = 3;
  constexpr unsigned kDistanceOrder = 12;
  constexpr unsigned kSpeedOrder = 9;
  constexpr unsigned kAccelerationOrder = 0;
  std::uint32_t index = along.route.value - 1;
  auto distance = static_cast<std::uint32_t>(along.distance);
  archive(wire::golomb(index, kRouteOrder), wire::golomb(distance, kDistanceOrder));
  // An invalid index stays invalid and does not overflow.
  along.route.value = index < kMaxRoutes ? index + 1 : kMaxRoutes + 1;
  if constexpr (Archive::is_loading::value) {
    if (distance > INT32_MAX) archive.bits().fail();
    along.distance = static_cast<std::int32_t>(distance & INT32_MAX);
  }
  serialize_folded(archive, along.speed, kSpeedOrder);
  serialize_folded(archive, along.acceleration, kAccelerationOrder);
}

/// The rates of a free state. `turns`: also the angular velocity.
template <class Archive>
void serialize_rates(Archive& archive, QuantisedState& state, bool turns) {
  constexpr std::array<std::int32_t, 3> kNone{};
  bool rests = state.velocity == kNone && state.acceleration == kNone && state.angular_velocity == kNone;
  archive(rests);
  if (rests) return;
  archive(wire::signed3(state.velocity, kRateBits));
  if (!state.coding_mode.steady) archive(wire::signed3(state.acceleration, kRateBits));
  if (turns) archive(wire::signed3(state.angular_velocity, kRateBits));
}

/// Rare properties of a motion, now only the frame of another entity. Costs one clear bit if there are none.
template <class Archive>
void serialize_extension(Archive& archive, QuantisedState& state) {
  bool extended{state.frame};
  archive(extended);
  if (!extended) return;
  bool framed{state.frame};
  bool owned = false;  // reserved; must be false
  archive(framed, owned);
  if constexpr (Archive::is_loading::value) {
    if (!framed || owned) archive.bits().fail();
  }
  archive(wire::ranged(state.frame.index1, 1, kMaxEntities), state.frame.generation);
}

/// Writes or reads a full state. An orientation has `orientation_bits` bits per component at the unit
/// precision; 0: no orientation.
template <class Archive>
void serialize_state(Archive& archive, QuantisedState& state, unsigned orientation_bits) {
  serialize_extension(archive, state);
  bool on_route{state.along.route};
  CodingMode& coding_mode = state.coding_mode;
  archive(on_route, wire::ranged(state.teleports, 0, kTeleportModulus - 1),
          wire::ranged(coding_mode.precision, 0, kMaxPrecision));
  if (on_route) return serialize_along(archive, state.along);
  archive(wire::ranged(coding_mode.reach, 0, kMaxReach), wire::ranged(coding_mode.prior, 0, kPriorCount - 1),
          wire::ranged(coding_mode.wander, 0, kMaxWander));
  if (orientation_bits != 0) archive(wire::ranged(coding_mode.twist, 0, kMaxTwist));
  archive(coding_mode.bends);
  if (coding_mode.bends) {
    archive(wire::ranged(state.link, 0, MotionTransition::kLinks - 1));
  } else {
    archive(coding_mode.steady);
    if (coding_mode.steady) archive(state.sudden);
  }
  archive(wire::signed3(state.position, kStateBits));
  if (orientation_bits != 0) {
    const unsigned bits = orientation_bits_at(orientation_bits, coding_mode.precision);
    const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
    archive(wire::ranged(state.largest, 0, 3));
    for (std::int16_t& component : state.orientation)
      archive(wire::ranged(component, -most, most));
  }
  serialize_rates(archive, state, orientation_bits != 0);
}

}  // namespace reckoner
