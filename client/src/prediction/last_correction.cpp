// SPDX-License-Identifier: MIT
#include "client/src/prediction/last_correction.hpp"

#include <algorithm>
#include <utility>

namespace reckoner {
namespace {

// An input that was not there may show so many ticks later: the server corrects when the states have drifted
// apart by more than the tolerance, and may send the correction again.
constexpr Tick kLongestBack = 12;
// A difference up to this number of tolerances is small.
constexpr double kSmall = 3.0;

}  // namespace

void LastCorrection::begin(Tick tick, CorrectionReason reason, double time_s) {
  before_ = count_ > 0 ? std::optional(tick_) : std::nullopt;
  ++count_;
  tick_ = tick;
  reason_ = reason;
  time_s_ = time_s;
  input_tick_ = 0;
  input_late_s_ = 0.0;
  size_ = 0;
}

void LastCorrection::add(const Error& error) {
  if (size_ < errors_.size()) errors_[size_++] = error;
}

void LastCorrection::find_cause(const PlayerInputs& inputs) {
  constexpr double kLongestS = 1.0;  // the inputs of that time may be forgotten later
  if (count_ == 0 || inputs.clock().time_s() > time_s_ + kLongestS) return;
  cause_ = reason_ == CorrectionReason::begins       ? CorrectionCause::begins
           : reason_ == CorrectionReason::teleported ? CorrectionCause::teleported
                                                     : cause_of_difference();
  const bool is_of_input = reason_ == CorrectionReason::input_missing || reason_ == CorrectionReason::differs;
  if (!is_of_input) return;
  if (reason_ == CorrectionReason::input_missing) cause_ = CorrectionCause::input_missing;
  for (Tick back = 0; back < kLongestBack && back < tick_; ++back) {
    const Tick tick = tick_ - back;
    // The state after the correction before was exact.
    if (before_ && !earlier(*before_, tick)) return;
    const auto late = inputs.late(tick);
    if (!late) continue;
    // The server repeats the input before. If the late one is equal, nothing has changed.
    const bool is_other = !std::ranges::equal(inputs.input(tick).bytes(), inputs.input(tick - 1).bytes());
    if (!is_other) continue;
    cause_ = late->sent_in_time ? CorrectionCause::input_lost : CorrectionCause::input_late;
    input_tick_ = tick;
    input_late_s_ = late->by_s;
    return;
  }
}

CorrectionCause LastCorrection::cause_of_difference() const {
  const auto errors = std::span(errors_).first(size_);
  const auto within = [&](double tolerances) {
    return std::ranges::all_of(errors, [&](const Error& error) {
      return error.had_result && error.position_m <= tolerances * error.tolerance.position_m &&
             error.angle_rad <= tolerances * error.tolerance.angle_rad;
    });
  };
  const bool same_bytes = std::ranges::all_of(errors, [](const Error& error) { return error.same_bytes; });
  if (within(1.0) && !same_bytes) return CorrectionCause::game_state;
  return within(kSmall) ? CorrectionCause::small_difference : CorrectionCause::differs;
}

std::optional<CorrectionDebug> LastCorrection::debug(EntityId id, double time_s) const {
  const auto errors = std::span(errors_).first(size_);
  const auto found = std::ranges::find(errors, id, &Error::id);
  if (found == errors.end()) return std::nullopt;
  CorrectionDebug debug{.tick = tick_, .reason = reason_, .cause = cause_};
  debug.age_s = std::max(0.0, time_s - time_s_);
  debug.had_result = found->had_result;
  debug.error_m = found->position_m;
  debug.error_rad = found->angle_rad;
  debug.game_state_differs = !found->same_bytes;
  debug.input_tick = input_tick_;
  debug.input_late_s = input_late_s_;
  return debug;
}

}  // namespace reckoner
