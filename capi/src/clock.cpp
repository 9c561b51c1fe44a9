// SPDX-License-Identifier: MIT
// Functions without server or client: frames and scaled clocks.
#include "capi/src/values/convert.hpp"

#include <reckoner/reckoning/scaled_clock.hpp>
#include <reckoner/reckoning/state.hpp>

using namespace reckoner;

namespace {

ScaledClock from_c(const reckoner_clock& clock) {
  return {clock.real_s, clock.game_s, clock.scale, clock.next_scale, clock.ease_s};
}

reckoner_clock to_c(const ScaledClock& clock) {
  return {clock.real_s, clock.game_s, clock.scale, clock.next_scale, clock.ease_s};
}

}  // namespace

void reckoner_out_of_frame(const reckoner_state* frame, const reckoner_state* local, reckoner_state* outer) {
  if (frame == nullptr || local == nullptr || outer == nullptr) return;
  *outer = capi::to_c(out_of_frame(capi::from_c(*frame), capi::from_c(*local)));
}

void reckoner_into_frame(const reckoner_state* frame, const reckoner_state* outer, reckoner_state* local) {
  if (frame == nullptr || local == nullptr || outer == nullptr) return;
  *local = capi::to_c(into_frame(capi::from_c(*frame), capi::from_c(*outer)));
}

void reckoner_clock_init(reckoner_clock* clock, double real_s, double game_s) {
  if (clock != nullptr) *clock = to_c({.real_s = real_s, .game_s = game_s});
}

reckoner_result reckoner_clock_set_scale(reckoner_clock* clock, double scale, double real_s, double ease_s) {
  if (clock == nullptr) return RECKONER_ERROR_ARGUMENT;
  ScaledClock scaled = from_c(*clock);
  if (!scaled.set_scale(scale, real_s, ease_s)) return RECKONER_ERROR_ARGUMENT;
  *clock = to_c(scaled);
  return RECKONER_OK;
}

double reckoner_clock_at(const reckoner_clock* clock, double real_s) {
  return clock != nullptr ? from_c(*clock).at(real_s) : 0.0;
}

double reckoner_clock_scale_at(const reckoner_clock* clock, double real_s) {
  return clock != nullptr ? from_c(*clock).scale_at(real_s) : 0.0;
}

double reckoner_clock_real_time_of(const reckoner_clock* clock, double game_s) {
  return clock != nullptr ? from_c(*clock).real_time_of(game_s) : 0.0;
}
