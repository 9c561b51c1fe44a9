// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/prediction.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// A tick that the client's game steps (Client::next_step()).
struct PredictionStep {
  Tick tick = 0;                     ///< the server's tick
  std::span<const std::byte> input;  ///< what the player does in this tick
};

/// The exact state of a predicted entity after a tick, as the server has it.
struct CorrectedEntity {
  EntityId id;
  State state;                            ///< in the game's coordinates
  std::span<const std::byte> game_state;  ///< the bytes of Server::set_game_state()
};

/// What the server says happened (Client::poll_correction()).
struct Correction {
  Tick tick = 0;  ///< the states are those after this tick
  CorrectionReason reason = CorrectionReason::begins;
  std::span<const CorrectedEntity> entities;  ///< every entity that the client predicts
  std::span<const PredictionStep> steps;      ///< the ticks since, oldest first: step them again
};

}  // namespace reckoner
