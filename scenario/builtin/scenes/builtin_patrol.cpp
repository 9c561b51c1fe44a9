// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <array>
#include <cassert>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/route.hpp>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kGuardsPerRoute = 8;
constexpr double kRouteAreaM2 = 1600.0;

// A guard's speed changes at the start of a leg. A round is a sequence of kLegs legs, and all rounds are
// equal. So the distance at any time is the distance of the complete rounds plus an entry of a table.
constexpr std::size_t kLegs = 12;
constexpr double kShortestPatrolLegS = 10.0;
constexpr double kLongestPatrolLegS = 20.0;
constexpr double kHaltChance = 0.15;  // probability that the guard stands still during a leg
constexpr double kSlowestMps = 0.7;
constexpr double kFastestMps = 1.9;
constexpr double kGentlestMps2 = 0.4;
constexpr double kHardestMps2 = 1.0;

// Half of the guards may leave their routes. Such a guard leaves its route at most once in each slot of this
// length, s.
constexpr double kSlotS = 60.0;
constexpr double kExcursionChance = 0.4;
constexpr double kShortestExcursionS = 8.0;
constexpr double kLongestExcursionS = 12.0;
constexpr double kNearestM = 1.0;
constexpr double kFurthestM = 2.0;

enum PatrolDraw : int { kLeaves, kBegins, kLasts, kReaches, kSide };

RouteDefinition draw_route(std::uint64_t seed, std::size_t number, double side_m) {
  Random random(seed, hash(number, 77));
  const std::size_t count = 7 + random.below(4);
  const double radius = random.uniform(11.0, 18.0);
  const glm::dvec3 centre{random.uniform(-0.5, 0.5) * side_m, random.uniform(-0.5, 0.5) * side_m, 0.0};
  std::vector<glm::dvec3> ring(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2.0 * std::numbers::pi * (static_cast<double>(i) + random.uniform(-0.2, 0.2)) /
                         static_cast<double>(count);
    const double away = radius * random.uniform(0.75, 1.25);
    ring[i] = centre +
              glm::dvec3{away * portable::cos(angle), away * portable::sin(angle), random.uniform(0.0, 1.0)};
  }
  RouteDefinition route;
  route.wrap = RouteWrap::closed;
  switch (number % 3) {
    case 0:
      route.curve = ChaikinRoute{std::move(ring)};
      break;
    case 1:
      route.curve = CatmullRomRoute{std::move(ring)};
      break;
    default:
      auto& curve = route.curve.emplace<TcbRoute>();
      for (std::size_t i = 0; i < count; ++i) {
        const TcbShape shape{random.uniform(-0.3, 0.3), 0.0, random.uniform(-0.3, 0.3)};
        curve.keys.push_back({static_cast<double>(i), ring[i], shape});
      }
  }
  return route;
}

// The motion of one guard along its route.
struct Walk {
  struct Leg {
    double begin_m = 0.0;  // distance since the start of the round
    double before_mps = 0.0;
    double speed_mps = 0.0;
    double acceleration_mps2 = 0.0;  // absolute value of the acceleration while the speed changes
  };
  std::array<Leg, kLegs> legs;
  double leg_s = 0.0;
  double phase_s = 0.0;
  double start_m = 0.0;
  double round_m = 0.0;

  // The distance since the start of the leg. `time_s` must be within the leg.
  static double walked(const Leg& leg, double time_s) {
    const double change = leg.speed_mps - leg.before_mps;
    const double ramp_s = std::abs(change) / leg.acceleration_mps2;
    if (time_s >= ramp_s)
      return 0.5 * (leg.before_mps + leg.speed_mps) * ramp_s + leg.speed_mps * (time_s - ramp_s);
    return time_s * (leg.before_mps + 0.5 * time_s * std::copysign(leg.acceleration_mps2, change));
  }

  [[nodiscard]] double distance(double time_s) const {
    const double t = time_s + phase_s;
    const Period round = period_at(t, leg_s * static_cast<double>(kLegs));
    const std::size_t leg = std::min(static_cast<std::size_t>(round.since_s / leg_s), kLegs - 1);
    return start_m + static_cast<double>(round.index) * round_m + legs[leg].begin_m +
           walked(legs[leg], round.since_s - static_cast<double>(leg) * leg_s);
  }
};

Walk draw_walk(std::uint64_t seed, std::size_t guard, double route_length_m) {
  Random random(seed, hash(guard, 78));
  Walk walk;
  walk.leg_s = random.uniform(kShortestPatrolLegS, kLongestPatrolLegS);
  walk.phase_s = random.uniform(0.0, 1000.0);
  walk.start_m = random.uniform() * route_length_m;
  for (Walk::Leg& leg : walk.legs) {
    const bool halts = random.chance(kHaltChance);
    const double speed = random.uniform(kSlowestMps, kFastestMps);
    leg.speed_mps = halts ? 0.0 : speed;
    leg.acceleration_mps2 = random.uniform(kGentlestMps2, kHardestMps2);
  }
  double before_mps = walk.legs.back().speed_mps;
  for (Walk::Leg& leg : walk.legs) {
    leg.begin_m = walk.round_m;
    leg.before_mps = std::exchange(before_mps, leg.speed_mps);
    walk.round_m += Walk::walked(leg, walk.leg_s);
  }
  return walk;
}

class Patrol final : public BuiltinSource {
 public:
  Patrol(std::size_t count, std::uint64_t seed) : BuiltinSource("guard", count, seed) {
    const std::size_t route_count = (count + kGuardsPerRoute - 1) / kGuardsPerRoute;
    const double side_m = std::sqrt(kRouteAreaM2 * static_cast<double>(route_count));
    for (std::size_t i = 0; i < route_count; ++i) {
      definitions_.push_back(draw_route(seed, i, side_m));
      Result<Route> route = Route::make(definitions_.back());
      assert(route);
      routes_.push_back(std::move(*route));
    }
    for (std::size_t i = 0; i < count; ++i)
      walks_.push_back(draw_walk(seed, i, route_for(i).length()));
  }

  Pose pose(std::size_t index, double time_s) const override {
    const double distance = walks_[index].distance(time_s);
    Pose pose = route_for(index).state_at({distance, 0.0, 0.0}, 0.0).pose();
    if (const Excursion e = excursion(index, time_s); e.active) pose.position += offset(index, e);
    return pose;
  }

  std::span<const RouteDefinition> routes() const override { return definitions_; }
  std::optional<std::size_t> route_of(std::size_t index) const override { return index % routes_.size(); }
  bool on_route(std::size_t index, double time_s) const override { return !excursion(index, time_s).active; }

 private:
  struct Excursion {
    bool active = false;
    double begin_s = 0.0;
    double length_s = 0.0;
    double reach_m = 0.0;  // largest distance from the route, m; positive: to the left
    double part = 0.0;     // the fraction of the excursion that has passed
  };

  const Route& route_for(std::size_t index) const { return routes_[index % routes_.size()]; }

  Excursion excursion(std::size_t index, double time_s) const {
    if ((index & 1) == 0) return {};
    const auto [slot, since_s] = period_at(time_s, kSlotS);
    const auto draw = [&, number = slot](PatrolDraw what) {
      return hash_uniform(seed(), index, number, static_cast<int>(what), 79);
    };
    if (draw(kLeaves) >= kExcursionChance) return {};
    Excursion e;
    e.length_s = std::lerp(kShortestExcursionS, kLongestExcursionS, draw(kLasts));
    const double begin = draw(kBegins) * (kSlotS - e.length_s);
    e.begin_s = static_cast<double>(slot) * kSlotS + begin;
    e.reach_m = std::lerp(kNearestM, kFurthestM, draw(kReaches)) * (draw(kSide) < 0.5 ? -1.0 : 1.0);
    e.part = (since_s - begin) / e.length_s;
    e.active = e.part > 0.0 && e.part < 1.0;
    return e;
  }

  // Displacement from the route. Its direction is constant: it is the direction to the left of the route at
  // the middle of the excursion. The direction to the left at the current point would turn abruptly where the
  // curvature of the route changes.
  glm::dvec3 offset(std::size_t index, const Excursion& e) const {
    const double middle = walks_[index].distance(e.begin_s + 0.5 * e.length_s);
    const glm::dvec3 forward{route_for(index).state_at({middle, 1.0, 0.0}, 0.0).velocity};
    const glm::dvec3 left = glm::normalize(glm::cross(glm::dvec3{0.0, 0.0, 1.0}, forward));
    const double bump = 4.0 * e.part * (1.0 - e.part);
    return left * (e.reach_m * bump * bump * bump);  // C2 at both ends
  }

  std::vector<RouteDefinition> definitions_;
  std::vector<Route> routes_;
  std::vector<Walk> walks_;
};

}  // namespace

std::unique_ptr<Source> make_patrol(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Patrol>(count, seed);
}

}  // namespace reckoner::scenario
