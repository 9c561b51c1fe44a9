// SPDX-License-Identifier: MIT
#include <utility>

#include <reckoner/net/route_table.hpp>

namespace reckoner {

Result<RouteId> RouteTable::add(const RouteDefinition& definition) {
  if (routes_.size() >= kMaxRoutes)
    return Error{"there are " + std::to_string(kMaxRoutes) + " routes already"};
  Result<Route> route = Route::make(definition);
  if (!route) return Error{route.error()};
  routes_.push_back(std::make_unique<const Route>(std::move(*route)));
  return RouteId{static_cast<std::uint32_t>(routes_.size())};
}

const Route* RouteTable::find(RouteId id) const {
  return id && id.value <= routes_.size() ? routes_[id.value - 1].get() : nullptr;
}

}  // namespace reckoner
