// SPDX-License-Identifier: MIT
#include "client/src/prediction/predicted_path.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <glm/geometric.hpp>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

// A step that is this much longer than its velocities explain, m, is a jump: the game has predicted a
// teleport.
constexpr double kLongestUnexplainedM = 10.0;

bool jumps(const State& from, const State& to, double step_s) {
  const glm::dvec3 mean_mps = 0.5 * (glm::dvec3(from.velocity) + glm::dvec3(to.velocity));
  return glm::distance(to.position - from.position, mean_mps * step_s) > kLongestUnexplainedM;
}

}  // namespace

// The newest known state that is not later than `tick`.
const PredictedPath::Step* PredictedPath::last_until(Tick tick) const {
  for (Tick back = 0; back < kLongestGap; ++back) {
    if (const Step* step = find(tick - back)) return step;
  }
  return nullptr;
}

// The oldest known state that is later than `tick`.
const PredictedPath::Step* PredictedPath::first_after(Tick tick) const {
  for (Tick next = tick + 1; !earlier(*newest_, next) && next - tick < kLongestGap; ++next) {
    if (const Step* step = find(next)) return step;
  }
  return nullptr;
}

std::optional<State> PredictedPath::at(double time_s, const TickClock& ticks) const {
  if (!newest_) return std::nullopt;
  const Tick before = ticks.tick_at(time_s);
  const Step* from = last_until(earlier(*newest_, before) ? *newest_ : before);
  if (from == nullptr) return std::nullopt;
  const Motion start{.state = from->state, .time_s = ticks.time_of(from->tick)};
  const Step* to = first_after(from->tick);
  if (to == nullptr) {
    constexpr double kLongestS = 0.1;
    State state = state_at(start, std::min(time_s, start.time_s + kLongestS));
    if (time_s > start.time_s + kLongestS) {  // the game stands still
      state.velocity = {};
      state.angular_velocity = {};
    }
    return state;
  }
  const double to_s = ticks.time_of(to->tick);
  if (jumps(from->state, to->state, to_s - start.time_s)) return from->state;
  return interpolate(start, {.state = to->state, .time_s = to_s}, time_s);
}

}  // namespace reckoner
