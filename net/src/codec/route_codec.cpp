// SPDX-License-Identifier: MIT
#include "net/src/codec/route_codec.hpp"

#include <cassert>
#include <cmath>
#include <cstdlib>

namespace reckoner {
namespace {

constexpr double kMaxAccelerationMps2 = 1e5;
constexpr double kMostSteps = 2'000'000'000.0;  // what travels, with its sign, in 32 bits

struct Steps {
  double distance_m;
  double speed_mps;
  double acceleration_mps2;
};

Steps steps_at(const Quantisation& q, std::uint8_t precision) {
  const double k = std::ldexp(1.0, int{kUnitPrecision} - int{precision});
  return {q.route_distance_step_m * k, q.route_speed_step_mps * k, q.route_acceleration_step_mps2 * k};
}

bool within(double value, double limit, double finest_step) {
  return std::abs(value) <= limit && std::abs(value) <= kMostSteps * finest_step;
}

double on_one_period(double distance, const Route& route) {
  if (route.wrap() == RouteWrap::kOpen) return route.wrapped(distance).distance;
  const double d = std::fmod(distance, route.period());
  return d < 0.0 ? d + route.period() : d;
}

}  // namespace

bool can_travel(const RouteState& along, const Route& route, const Quantisation& quantisation) {
  const Steps finest = steps_at(quantisation, kMostPrecision);
  const Steps coarsest = steps_at(quantisation, 0);  // of room, because rounding may go outwards
  return std::isfinite(along.distance) && within(route.period(), 1e300, finest.distance_m) &&
         within(along.speed, quantisation.max_speed_mps - coarsest.speed_mps, finest.speed_mps) &&
         within(along.acceleration, kMaxAccelerationMps2 - coarsest.acceleration_mps2,
                finest.acceleration_mps2);
}

QuantisedState quantise(RouteId id, const Route& route, const RouteState& along, std::uint8_t teleports,
                        std::uint8_t precision, const Quantisation& quantisation) {
  assert(id && can_travel(along, route, quantisation) && precision <= kMostPrecision);
  const Steps steps = steps_at(quantisation, precision);
  QuantisedState out;
  out.teleports = static_cast<std::uint8_t>(teleports % kTeleportModulus);
  out.coding_mode.precision = precision;
  out.along.route = id;
  out.along.distance =
      static_cast<std::int32_t>(std::llround(on_one_period(along.distance, route) / steps.distance_m));
  out.along.speed = static_cast<std::int32_t>(std::llround(along.speed / steps.speed_mps));
  out.along.acceleration =
      static_cast<std::int32_t>(std::llround(along.acceleration / steps.acceleration_mps2));
  return out;
}

std::optional<Motion> motion_of(const QuantisedState& quantised, double time_s,
                                const Quantisation& quantisation, const RouteTable& routes) {
  if (!quantised.along.route) {
    const auto state = dequantise(quantised, quantisation);
    if (!state) return std::nullopt;
    Motion motion{*state, time_s, quantised.teleports};
    motion.never_reverses = quantisation.never_reverses;
    motion.max_speed_mps = static_cast<float>(quantisation.max_speed_mps);
    motion.world_size_m = static_cast<float>(quantisation.world_size_m);
    motion.bends = quantised.coding_mode.bends;
    motion.link = quantised.link;
    motion.frame = frame_of(quantised.frame);
    return motion;
  }
  const Route* route = routes.find(quantised.along.route);
  if (route == nullptr) return std::nullopt;
  const Steps steps = steps_at(quantisation, quantised.coding_mode.precision);
  RouteState along{static_cast<double>(quantised.along.distance) * steps.distance_m,
                   static_cast<double>(quantised.along.speed) * steps.speed_mps,
                   static_cast<double>(quantised.along.acceleration) * steps.acceleration_mps2};
  // Half a step beyond the end is the rounding of the end.
  if (along.distance < 0.0 || along.distance > route->period() + steps.distance_m ||
      !(std::abs(along.speed) <= quantisation.max_speed_mps) ||
      !(std::abs(along.acceleration) <= kMaxAccelerationMps2)) {
    return std::nullopt;
  }
  if (route->wrap() == RouteWrap::kOpen) along.distance = route->wrapped(along.distance).distance;
  Motion motion{State{}, time_s, quantised.teleports, route, along, quantisation.orientation_bits != 0};
  motion.frame = frame_of(quantised.frame);
  motion.state = state_along(motion, along);
  return motion;
}

}  // namespace reckoner
