// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// How far the client's result for a tick may be from the server's state.
struct PredictionTolerance {
  float position_m = 0.01f;  ///< along each axis, m
  float angle_rad = 0.01f;   ///< rotation about any axis, rad

  bool operator==(const PredictionTolerance&) const = default;
};

/// What a client has computed for a predicted entity in one tick, in 44 bits. The server knows its own state,
/// so the low bits of the client's numbers are enough to see how far they differ: numbers are rounded to a
/// quarter of the tolerance, and two states that differ by less than 16 tolerances along each axis never look
/// alike. If they differ by more, all three axes look alike by chance once in 2,800 ticks, and the next tick
/// shows it.
struct PredictedResult {
  static constexpr unsigned kPositionBits = 7;
  static constexpr unsigned kRotationBits = 6;
  static constexpr unsigned kGameStateBits = 5;
  static constexpr std::size_t kBits = 3 * kPositionBits + 3 * kRotationBits + kGameStateBits;

  std::array<std::uint8_t, 3> position{};  ///< low bits of the rounded coordinates
  std::array<std::uint8_t, 3> rotation{};  ///< low bits of the rounded parts x, y, z of the quaternion
  std::uint8_t game_state = 0;             ///< low bits of a hash of the tick and the game's bytes

  bool operator==(const PredictedResult&) const = default;
};

/// The result that describes a state after `tick`. The position must be finite; one that is far away is
/// limited to 2^52 units.
[[nodiscard]] RECKONER_NET_API PredictedResult result_of(const State& state,
                                                         std::span<const std::byte> game_state,
                                                         const PredictionTolerance& tolerance, Tick tick);

/// True if the client's result for `tick` agrees with the server's state within the tolerance, and if the
/// bytes of the game are the same.
[[nodiscard]] RECKONER_NET_API bool agrees(const PredictedResult& client, const State& server,
                                           std::span<const std::byte> game_state,
                                           const PredictionTolerance& tolerance, Tick tick);

}  // namespace reckoner
