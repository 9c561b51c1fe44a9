// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness::football {

/// What has happened in the server's game. The figures compare the players' pictures with it.
class FootballTruth {
 public:
  explicit FootballTruth(double tick_rate_hz) : tick_rate_hz_(tick_rate_hz) {}

  /// The states after a tick, and the bodies that touched in it. Ticks come in their order. The ticks that
  /// are left out before it get the same states, and no contacts.
  void note(Tick tick, const std::array<State, kBodies>& states, const Contacts& contacts);
  /// Everything was put at its place for a kick-off.
  void note_kick_off(double time_s) { kick_offs_s_.push_back(time_s); }

  /// The state of a body at a server time; nullopt if that has not happened.
  [[nodiscard]] std::optional<State> state(std::size_t body, double time_s) const;
  /// True if `a` and `b` touched within `within_s` of the tick.
  [[nodiscard]] bool touched(std::size_t a, std::size_t b, Tick tick, double within_s) const;
  /// True if a kick-off lies between the two times.
  [[nodiscard]] bool kicked_off(double from_s, double to_s) const;
  [[nodiscard]] double tick_s(Tick tick) const { return tick / tick_rate_hz_; }
  /// Time of the last tick.
  [[nodiscard]] double end_s() const { return (static_cast<double>(states_.size()) - 1.0) / tick_rate_hz_; }

 private:
  double tick_rate_hz_;
  std::vector<std::array<State, kBodies>> states_;  // index: tick
  std::vector<Contacts> contacts_;                  // index: tick
  std::vector<double> kick_offs_s_;
};

}  // namespace reckoner::harness::football
