// SPDX-License-Identifier: MIT
#include "client/src/prediction/predicted_path.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

std::optional<State> PredictedPath::at(double time_s, const TickClock& ticks) const {
  if (!newest_) return std::nullopt;
  const Tick before = std::min(ticks.tick_at(time_s), *newest_);
  const Step* from = find(before);
  if (from == nullptr) return std::nullopt;
  const Motion start{.state = from->state, .time_s = ticks.time_of(before)};
  const Step* to = find(before + 1);
  if (to == nullptr) {
    constexpr double kLongestS = 0.1;  // the game has stopped to step
    return state_at(start, std::min(time_s, start.time_s + kLongestS));
  }
  return interpolate(start, {.state = to->state, .time_s = ticks.time_of(before + 1)}, time_s);
}

}  // namespace reckoner
