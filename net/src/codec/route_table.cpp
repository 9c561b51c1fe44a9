// SPDX-License-Identifier: MIT
#include "net/src/codec/route_table.hpp"

#include "net/src/codec/route_serialize.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

bool small(double number) {
  return std::abs(number) <= wire::kMostRouteNumber;  // false for NaN
}
bool small(const glm::dvec3& v) {
  return small(v.x) && small(v.y) && small(v.z);
}
bool small(const TcbKey<glm::dvec3>& k) {
  return small(k.time) && small(k.value) && small(k.shape.tension) && small(k.shape.continuity) &&
         small(k.shape.bias) && small(k.ease_to) && small(k.ease_from);
}

}  // namespace

bool can_travel(const RouteDefinition& d) {
  const auto all_small = [](const auto& list) {
    return std::all_of(list.begin(), list.end(), [](const auto& element) { return small(element); });
  };
  return d.kind <= RouteKind::kPolyline && d.wrap <= RouteWrap::kPingPong &&
         d.facing <= RouteFacing::kFixed && d.knots <= CatmullRomKnots::kChordal &&
         d.points.size() <= kMostRoutePoints && d.keys.size() <= kMostRoutePoints && all_small(d.points) &&
         all_small(d.keys) && small(d.closing_time) && small(d.angle_limit.value_or(0.0)) &&
         small(d.outlier_limit.value_or(0.0)) && d.passes >= 0 && d.passes <= wire::kMostPasses &&
         small(d.up) && small(d.orientation.w) && small(d.orientation.x) && small(d.orientation.y) &&
         small(d.orientation.z) && small(d.tolerance);
}

Result<RouteId> RouteTable::add(const RouteDefinition& definition) {
  if (routes_.size() >= kMaxRoutes)
    return Error{"there are " + std::to_string(kMaxRoutes) + " routes already"};
  Result<Route> route = Route::make(definition);
  if (!route) return Error{route.error()};
  if (!can_travel(definition))
    return Error{"a route's numbers must be below 1e12, and its passes at most 15"};
  const std::size_t parts = route->path().piece_count() + route->arc().part_count();
  if (parts > kMostRouteParts - parts_)
    return Error{"all routes together would have more than " + std::to_string(kMostRouteParts) + " parts"};
  parts_ += parts;
  routes_.push_back(std::make_unique<const Route>(std::move(*route)));
  return RouteId{static_cast<std::uint32_t>(routes_.size())};
}

const Route* RouteTable::find(RouteId id) const {
  return id && id.value <= routes_.size() ? routes_[id.value - 1].get() : nullptr;
}

}  // namespace reckoner
