// SPDX-License-Identifier: MIT
#include "net/src/codec/route_codec.hpp"

#include "net/src/codec/route_serialize.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

bool small(double number) {
  return std::abs(number) <= wire::kMaxRouteNumber;  // false for NaN
}
bool small(const glm::dvec3& v) {
  return small(v.x) && small(v.y) && small(v.z);
}
bool small(const TcbKey<glm::dvec3>& k) {
  return small(k.time) && small(k.value) && small(k.shape.tension) && small(k.shape.continuity) &&
         small(k.shape.bias) && small(k.ease_to) && small(k.ease_from);
}

template <class Element>
bool small(const std::vector<Element>& list) {
  return list.size() <= kMaxRoutePoints &&
         std::all_of(list.begin(), list.end(), [](const Element& element) { return small(element); });
}
bool small(const CatmullRomRoute& r) {
  return small(r.points) && r.knots <= CatmullRomKnots::chordal;
}
bool small(const TcbRoute& r) {
  return small(r.keys) && small(r.closing_time);
}
bool small(const ChaikinRoute& r) {
  return small(r.points) && r.passes >= 0 && r.passes <= wire::kMaxPasses &&
         small(r.angle_limit.value_or(0.0)) && small(r.outlier_limit.value_or(0.0));
}
bool small(const PolylineRoute& r) {
  return small(r.points);
}

}  // namespace

bool is_encodable(const RouteDefinition& d) {
  return d.wrap <= RouteWrap::ping_pong && d.facing <= RouteFacing::fixed &&
         std::visit([](const auto& curve) { return small(curve); }, d.curve) && small(d.up) &&
         small(d.orientation.w) && small(d.orientation.x) && small(d.orientation.y) &&
         small(d.orientation.z) && small(d.tolerance);
}

Result<RouteId> RouteTable::add(const RouteDefinition& definition) {
  if (routes_.size() >= kMaxRoutes)
    return Error{"the maximum of " + std::to_string(kMaxRoutes) + " routes is reached"};
  Result<Route> route = Route::make(definition);
  if (!route) return Error{route.error()};
  if (!is_encodable(definition))
    return Error{"a route's numbers must be from -1e12 to 1e12, and its passes at most 15"};
  const std::size_t parts = route->path().piece_count() + route->arc().part_count();
  if (parts > kMaxRouteParts - parts_)
    return Error{"all routes together would exceed the maximum of " + std::to_string(kMaxRouteParts) +
                 " parts"};
  parts_ += parts;
  routes_.push_back(std::make_unique<const Route>(std::move(*route)));
  return RouteId{static_cast<std::uint32_t>(routes_.size())};
}

const Route* RouteTable::find(RouteId id) const {
  return id && id.value <= routes_.size() ? routes_[id.value - 1].get() : nullptr;
}

namespace {

constexpr double kMaxRouteSteps = 2'000'000'000.0;  // fits in 32 bits, with the sign

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
  return std::abs(value) <= limit && std::abs(value) <= kMaxRouteSteps * finest_step;
}

double on_one_period(double distance, const Route& route) {
  if (route.wrap() == RouteWrap::open) return route.wrapped(distance).distance;
  const double d = std::fmod(distance, route.period());
  return d < 0.0 ? d + route.period() : d;
}

}  // namespace

bool is_encodable(const RouteState& along, const Route& route, const Quantisation& quantisation) {
  const Steps finest = steps_at(quantisation, kMaxPrecision);
  const Steps coarsest = steps_at(quantisation, 0);  // margin, because rounding may increase a number
  return std::isfinite(along.distance) && within(route.period(), 1e300, finest.distance_m) &&
         within(along.speed, quantisation.max_speed_mps - coarsest.speed_mps, finest.speed_mps) &&
         within(along.acceleration, kMaxAccelerationMps2 - coarsest.acceleration_mps2,
                finest.acceleration_mps2);
}

QuantisedState quantise(RouteId id, const Route& route, const RouteState& along, std::uint8_t teleports,
                        std::uint8_t precision, const Quantisation& quantisation) {
  assert(id && is_encodable(along, route, quantisation) && precision <= kMaxPrecision);
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
    motion.transition.quiet = quantisation.quiet;
    motion.floor = quantisation.floor;
    motion.walls = quantisation.walls;
    motion.transition.bends = quantised.coding_mode.bends;
    motion.transition.link = quantised.link;
    motion.transition.sudden = quantised.sudden;
    motion.frame = frame_of(quantised.frame);
    return motion;
  }
  const Route* route = routes.find(quantised.along.route);
  if (route == nullptr) return std::nullopt;
  const Steps steps = steps_at(quantisation, quantised.coding_mode.precision);
  RouteState along{static_cast<double>(quantised.along.distance) * steps.distance_m,
                   static_cast<double>(quantised.along.speed) * steps.speed_mps,
                   static_cast<double>(quantised.along.acceleration) * steps.acceleration_mps2};
  // Rounding may move the end of the route outwards by half a step.
  if (along.distance < 0.0 || along.distance > route->period() + steps.distance_m ||
      !(std::abs(along.speed) <= quantisation.max_speed_mps) ||
      !(std::abs(along.acceleration) <= kMaxAccelerationMps2)) {
    return std::nullopt;
  }
  if (route->wrap() == RouteWrap::open) along.distance = route->wrapped(along.distance).distance;
  Motion motion{State{}, time_s, quantised.teleports, route, along, quantisation.orientation_bits != 0};
  motion.frame = frame_of(quantised.frame);
  motion.state = state_along(motion, along);
  return motion;
}

}  // namespace reckoner
