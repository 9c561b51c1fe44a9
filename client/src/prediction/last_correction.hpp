// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/prediction/player_inputs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/client/prediction.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/prediction.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The newest correction that the game has taken: how far the client was off, and why.
class LastCorrection {
 public:
  /// How far the client's result for an entity was from the exact state.
  struct Error {
    EntityId id;
    bool had_result = false;  ///< false: the game has computed no state for this tick, or not lately
    double position_m = 0.0;
    double angle_rad = 0.0;
    bool same_bytes = true;
    PredictionTolerance tolerance;
  };

  /// The game takes a correction at the time of inputs `time_s`. One call of add() for each entity follows,
  /// and then one of find_cause().
  void begin(Tick tick, CorrectionReason reason, double time_s);
  void add(const Error& error);
  /// Finds the cause as far as it is known. Call it again when more is known of the inputs: in the first
  /// second, that may change the cause.
  void find_cause(const PlayerInputs& inputs);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Nullopt if the game has taken no correction with this entity yet.
  [[nodiscard]] std::optional<CorrectionDebug> debug(EntityId id, double time_s) const;

 private:
  [[nodiscard]] CorrectionCause cause_of_difference() const;

  std::uint32_t count_ = 0;
  Tick tick_ = 0;
  std::optional<Tick> before_;  // tick of the correction before
  CorrectionReason reason_ = CorrectionReason::begins;
  CorrectionCause cause_ = CorrectionCause::begins;
  double time_s_ = 0.0;
  Tick input_tick_ = 0;  // the input that was late
  double input_late_s_ = 0.0;
  std::array<Error, kMaxPredicted> errors_{};
  std::size_t size_ = 0;  // of errors_
};

}  // namespace reckoner
