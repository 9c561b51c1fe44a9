// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  EntityId id;                            ///< one that the client predicts
  State state;                            ///< in the game's coordinates
  std::span<const std::byte> game_state;  ///< the bytes of Server::set_game_state()
};

/// What the server says happened (Client::poll_correction()).
struct Correction {
  Tick tick = 0;                                       ///< the states are those after this tick
  CorrectionReason reason = CorrectionReason::begins;  ///< what the server says of it
  std::span<const CorrectedEntity> entities;           ///< every entity that the client predicts
  std::span<const PredictionStep> steps;               ///< the ticks since, oldest first: step them again
};

/// Why a correction came, as far as a client can know it (docs/prediction.md, "Why was I corrected?"). The
/// server sends `begins`, `teleported`, and whether it has repeated an input. The client infers the rest from
/// its own results, and from the server's reports of when inputs arrived. More may become known in the round
/// trip after a correction.
enum class CorrectionCause : std::uint8_t {
  begins,         ///< CorrectionReason::begins
  teleported,     ///< CorrectionReason::teleported
  input_missing,  ///< the server did not have an input in time, or no results; nothing more is known
  /// An input that was another than the one before arrived after its tick. The client had sent it too late:
  /// its program had stopped for a moment, or the lead was too short for the usual transit.
  input_late,
  /// An input that was another than the one before arrived after its tick, although the client had sent it in
  /// time for the usual transit. Its datagram was lost, so that a later one brought it, or was held up.
  input_lost,
  game_state,  ///< all results were within the tolerance, and only the bytes of the game differed
  /// No result was off by more than 3 tolerances. A step that is not deterministic drifts like this; a light
  /// touch looks alike.
  small_difference,
  differs,  ///< a larger difference: a contact, another player, the server's game, or another step
};

/// The newest correction that the game has taken (Client::poll_correction()), as a part of PredictionDebug.
struct CorrectionDebug {
  Tick tick = 0;                                       ///< Correction::tick
  CorrectionReason reason = CorrectionReason::begins;  ///< Correction::reason
  CorrectionCause cause = CorrectionCause::begins;     ///< of the whole correction, with all its entities
  double age_s = 0.0;                                  ///< time since poll_correction() has returned it, s
  bool had_result =
      false;  ///< true if the game had computed this entity for the tick; otherwise no error is known
  double error_m = 0.0;             ///< distance of that result from the server's state, m
  double error_rad = 0.0;           ///< angle between their orientations, rad
  bool game_state_differs = false;  ///< the bytes of Server::set_game_state() were others
  Tick input_tick = 0;        ///< with `input_late` and `input_lost`: the tick of that input; otherwise 0
  double input_late_s = 0.0;  ///< how long after its tick the input arrived, at least, s; 0 with other causes
};

/// What is known of the prediction of an entity (ShownDebug::prediction).
struct PredictionDebug {
  std::uint64_t ticks = 0;  ///< ticks that the game has computed for it, without those of replays
  Tick newest = 0;          ///< the newest of them
  double lead_s = 0.0;      ///< how far the inputs are ahead of the server, s
  double fading_m =
      0.0;  ///< the part of an error that still fades, m; 0: the shown state is the computed one
  std::uint32_t corrections = 0;  ///< corrections that the game has taken in this session, for any entity
  std::optional<CorrectionDebug> correction;  ///< nullopt if none contained this entity yet
};

}  // namespace reckoner
