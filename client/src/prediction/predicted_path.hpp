// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/tick_clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/prediction.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The states that this client's game has computed for an entity that it predicts, by tick.
class PredictedPath {
 public:
  static constexpr std::size_t kKept = 256;
  /// The game skips at most about this number of ticks after it stood still.
  static constexpr Tick kLongestGap = 48;

  struct Step {
    Tick tick = 0;
    bool is_known = false;
    State state;
    std::uint8_t size = 0;  // of game_state
    std::array<std::byte, kMaxGameStateBytes> game_state;

    [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(game_state).first(size); }
  };

  PredictedPath() : ring_(kKept) {}

  /// The state after `tick`. `game_state` has at most kMaxGameStateBytes.
  void set(Tick tick, const State& state, std::span<const std::byte> game_state) {
    Step& step = ring_[tick % kKept];
    step.tick = tick;
    step.is_known = true;
    step.state = state;
    step.size = static_cast<std::uint8_t>(game_state.size());
    std::ranges::copy(game_state, step.game_state.begin());
    if (!newest_ || earlier(*newest_, tick)) newest_ = tick;
  }
  /// Null if the game has computed no state for this tick, or not lately.
  [[nodiscard]] const Step* find(Tick tick) const {
    const Step& step = ring_[tick % kKept];
    return step.is_known && step.tick == tick ? &step : nullptr;
  }
  /// The newest tick with a state; nullopt if there is none.
  [[nodiscard]] std::optional<Tick> newest() const { return newest_; }

  /// The state at `time_s`: the Hermite cubic through the positions and velocities of the known ticks before
  /// and after, usually adjacent ones. If the later one is not known yet, the earlier one is extrapolated. If
  /// the game's step between them is a jump, the earlier one until the later one's time. Nullopt if no
  /// earlier one is known within kLongestGap ticks.
  [[nodiscard]] std::optional<State> at(double time_s, const TickClock& ticks) const;

 private:
  [[nodiscard]] const Step* last_until(Tick tick) const;
  [[nodiscard]] const Step* first_after(Tick tick) const;

  std::vector<Step> ring_;
  std::optional<Tick> newest_;
};

}  // namespace reckoner
