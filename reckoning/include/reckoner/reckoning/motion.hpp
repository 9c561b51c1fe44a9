// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// A state and the model that carries it forward: what is published, and what both ends predict with.
struct Motion {
  State state;
  double time_s = 0.0;         ///< server time at which `state` is exact
  std::uint8_t teleports = 0;  ///< declared discontinuities so far, modulo 256; a difference is never blended across
};

/// `state`, `dt_s` seconds later (or earlier, if negative), under quadratic motion and constant angular
/// velocity: p + v t + a t^2 / 2, v + a t; the orientation turns by |w| t about w.
///
/// Both ends of a connection run this function and must agree to the last bit on every platform, so it uses
/// only + - * / and sqrt, with sine and cosine of its own, compiled in the library without contraction.
[[nodiscard]] State extrapolate(const State& state, double dt_s);

/// The motion's state at server time `time_s`.
[[nodiscard]] inline State state_at(const Motion& motion, double time_s) {
  return extrapolate(motion.state, time_s - motion.time_s);
}

}  // namespace reckoner
