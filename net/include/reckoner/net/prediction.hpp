// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace reckoner {

/// Largest input of a player for one tick, bytes.
inline constexpr std::size_t kMaxInputBytes = 64;
/// Largest game state that travels with the exact state of a predicted entity, bytes.
inline constexpr std::size_t kMaxGameStateBytes = 128;
/// Most entities that one client predicts at a time.
inline constexpr std::size_t kMaxPredicted = 8;

/// Why a server sent a correction.
enum class CorrectionReason : std::uint8_t {
  begins,         ///< the client predicts other entities from now on, or its session has resumed
  input_missing,  ///< the input of a tick had not arrived in time, so the server repeated the one before
  differs,        ///< the client's result was another one: a contact, another player, an inexact step
  teleported,     ///< the server's game has teleported a predicted entity
};

}  // namespace reckoner
