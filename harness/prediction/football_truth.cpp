// SPDX-License-Identifier: MIT
#include "harness/prediction/football_truth.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace reckoner::harness::football {

void FootballTruth::note(Tick tick, const std::array<State, kBodies>& states, const Contacts& contacts) {
  states_.resize(tick + 1, states);
  contacts_.resize(tick + 1);
  states_[tick] = states;
  contacts_[tick] = contacts;
}

std::optional<State> FootballTruth::state(std::size_t body, double time_s) const {
  const double before = std::floor(time_s * tick_rate_hz_ + 1e-9);
  if (before < 0.0 || before + 1.0 >= static_cast<double>(states_.size())) return std::nullopt;
  const auto tick = static_cast<std::size_t>(before);
  return interpolate({.state = states_[tick][body], .time_s = before / tick_rate_hz_},
                     {.state = states_[tick + 1][body], .time_s = (before + 1.0) / tick_rate_hz_}, time_s);
}

bool FootballTruth::touched(std::size_t a, std::size_t b, Tick tick, double within_s) const {
  const auto reach = static_cast<std::int64_t>(std::ceil(within_s * tick_rate_hz_));
  const auto middle = static_cast<std::int64_t>(tick);
  const auto last = std::min(middle + reach, static_cast<std::int64_t>(contacts_.size()) - 1);
  for (auto i = std::max<std::int64_t>(0, middle - reach); i <= last; ++i) {
    if ((contacts_[static_cast<std::size_t>(i)].with[a] >> b & 1u) != 0) return true;
  }
  return false;
}

bool FootballTruth::kicked_off(double from_s, double to_s) const {
  return std::ranges::any_of(kick_offs_s_, [&](double at_s) { return at_s >= from_s && at_s <= to_s; });
}

}  // namespace reckoner::harness::football
