// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner {

/// Where an entity is on a route, and how it goes on: what is published instead of a position.
struct RouteState {
  double distance = 0.0;      ///< m from the start, any number; may count laps
  double speed = 0.0;         ///< m/s along the route; negative: backwards
  double acceleration = 0.0;  ///< m/s^2 along the route; brakes to rest, never reverses (Route::advanced())
};

}  // namespace reckoner
