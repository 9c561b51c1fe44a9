// SPDX-License-Identifier: MIT
#include "client/src/prediction/predicted_path.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <glm/geometric.hpp>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// A step that is this much longer than its velocities explain, m, is a jump: the game has predicted a
// teleport. It is the length above which an error of a correction does not fade either.
constexpr double kLongestUnexplainedM = 10.0;

bool jumps(const State& from, const State& to, double step_s) {
  const glm::dvec3 mean_mps = 0.5 * (glm::dvec3(from.velocity) + glm::dvec3(to.velocity));
  return glm::distance(to.position - from.position, mean_mps * step_s) > kLongestUnexplainedM;
}

}  // namespace

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
  if (jumps(from->state, to->state, ticks.time_of(before + 1) - start.time_s)) return from->state;
  return interpolate(start, {.state = to->state, .time_s = ticks.time_of(before + 1)}, time_s);
}

}  // namespace reckoner
