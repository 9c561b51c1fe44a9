// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/util/time_guard.hpp"

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Server time: when each tick is due, which tick comes next, and the present. The game gives the present;
/// only a time that TimeGuard accepts becomes the present.
class ServerTime {
 public:
  /// `epoch_s` is the time of tick 0, s.
  ServerTime(double epoch_s, double tick_rate_hz) : epoch_s_(epoch_s), tick_rate_hz_(tick_rate_hz) {}

  /// When a tick is due, s.
  [[nodiscard]] double at(Tick tick) const { return epoch_s_ + tick / tick_rate_hz_; }
  /// Time between two ticks, s.
  [[nodiscard]] double tick_s() const { return 1.0 / tick_rate_hz_; }

  /// The tick that begins next.
  [[nodiscard]] Tick next_tick() const { return next_tick_; }
  /// The tick that has begun last; 0 before the first one.
  [[nodiscard]] Tick last_tick() const { return next_tick_ == 0 ? 0 : next_tick_ - 1; }
  /// Begins the next tick and returns it.
  Tick begin_tick() { return next_tick_++; }
  /// Makes `tick` the next tick. Call it before the first tick only.
  void start_at(Tick tick) { next_tick_ = tick; }

  /// The present, s; 0 before the first set_present().
  [[nodiscard]] double present_s() const { return present_s_; }
  /// True after the first set_present() that was accepted.
  [[nodiscard]] bool has_present() const { return has_present_; }
  /// Returns false and keeps the present if the time cannot be right.
  [[nodiscard]] bool set_present(double now_s) {
    if (!guard_.accepts(now_s)) return false;
    present_s_ = now_s;
    has_present_ = true;
    return true;
  }

 private:
  double epoch_s_;
  double tick_rate_hz_;
  Tick next_tick_ = 0;
  double present_s_ = 0.0;
  bool has_present_ = false;
  TimeGuard guard_;
};

}  // namespace reckoner
