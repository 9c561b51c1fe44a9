// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The ticks in which one client may get motions, at ServerConfig::send_rate_hz. The turns of different
/// clients are spread evenly over the ticks.
class SendTurns {
 public:
  SendTurns(ClientId client, const ServerConfig& config)
      : tick_s_(1.0 / config.tick_rate_hz),
        per_tick_(config.send_rate_hz > 0.0 ? std::fmin(1.0, config.send_rate_hz * tick_s_) : 1.0),
        phase_(std::fmod(kGolden * client.value, 1.0)) {}

  /// Call it in every tick. True if it is the client's turn. A turn lasts until take().
  [[nodiscard]] bool is_due(Tick tick) {
    const double turns = per_tick_ * tick + phase_;
    due_ = due_ || std::floor(turns) != std::floor(turns - per_tick_);
    return due_;
  }
  /// Ends the turn: the datagrams of this turn were written.
  void take() { due_ = false; }

  /// Time between two turns, s.
  [[nodiscard]] double interval_s() const { return tick_s_ / per_tick_; }
  /// True if a motion may have waited this long for its turn only, s.
  [[nodiscard]] bool explains(double waited_s) const { return waited_s < interval_s() - 0.5 * tick_s_; }
  /// Mean time that a motion waits for the next turn, s; 0 if every tick is a turn.
  [[nodiscard]] double mean_wait_s() const { return 0.5 * (interval_s() - tick_s_); }

 private:
  static constexpr double kGolden = 0.6180339887498949;  // its multiples are spread evenly, modulo 1

  double tick_s_;
  double per_tick_;
  double phase_;
  bool due_ = false;
};

}  // namespace reckoner
