// SPDX-License-Identifier: MIT
#include "capi/src/server/server_handle.hpp"

#include <cmath>
#include <vector>

using namespace reckoner;
using capi::entity_id;
using capi::run;
using capi::with;

namespace {

bool makes_sense(const reckoner_route_config& c) {
  return c.kind >= RECKONER_ROUTE_CATMULL_ROM && c.kind <= RECKONER_ROUTE_POLYLINE &&
         c.wrap >= RECKONER_WRAP_OPEN && c.wrap <= RECKONER_WRAP_PING_PONG &&
         c.facing >= RECKONER_FACING_UPRIGHT && c.facing <= RECKONER_FACING_FIXED && c.knots >= 0 &&
         c.knots <= 2 && c.point_count <= kMaxRoutePoints && c.key_count <= kMaxRoutePoints &&
         (c.point_count == 0 || c.points != nullptr) && (c.key_count == 0 || c.keys != nullptr);
}

std::vector<glm::dvec3> points_of(const reckoner_route_config& c) {
  std::vector<glm::dvec3> points;
  for (std::uint32_t i = 0; i < c.point_count; ++i)
    points.emplace_back(c.points[3 * i], c.points[3 * i + 1], c.points[3 * i + 2]);
  return points;
}

TcbRoute tcb_of(const reckoner_route_config& c) {
  TcbRoute route{.closing_time = c.closing_time};
  for (std::uint32_t i = 0; i < c.key_count; ++i) {
    const reckoner_route_key& key = c.keys[i];
    route.keys.push_back({.time = key.time,
                          .value = {key.position[0], key.position[1], key.position[2]},
                          .shape = {key.tension, key.continuity, key.bias},
                          .ease_to = key.ease_to,
                          .ease_from = key.ease_from});
  }
  return route;
}

ChaikinRoute chaikin_of(const reckoner_route_config& c) {
  ChaikinRoute route{.points = points_of(c), .passes = c.passes};
  if (c.angle_limit_rad >= 0.0) route.angle_limit = c.angle_limit_rad;
  if (c.outlier_limit_rad > 0.0) route.outlier_limit = c.outlier_limit_rad;
  return route;
}

RouteCurve curve_of(const reckoner_route_config& c) {
  switch (c.kind) {
    case RECKONER_ROUTE_TCB:
      return tcb_of(c);
    case RECKONER_ROUTE_CHAIKIN:
      return chaikin_of(c);
    case RECKONER_ROUTE_POLYLINE:
      return PolylineRoute{points_of(c)};
    default:
      return CatmullRomRoute{points_of(c), static_cast<CatmullRomKnots>(c.knots), c.reflect_ends != 0};
  }
}

RouteDefinition definition_of(const reckoner_route_config& c) {
  RouteDefinition route{.curve = curve_of(c),
                        .wrap = static_cast<RouteWrap>(c.wrap),
                        .facing = static_cast<RouteFacing>(c.facing)};
  route.up = {c.up[0], c.up[1], c.up[2]};
  route.orientation = glm::dquat{c.orientation[3], c.orientation[0], c.orientation[1], c.orientation[2]};
  if (c.tolerance_m > 0.0) route.tolerance = c.tolerance_m;
  return route;
}

}  // namespace

reckoner_result reckoner_server_add_route(reckoner_server* server, const reckoner_route_config* config,
                                          reckoner_route* route, char* why, std::size_t why_size) {
  capi::say("", why, why_size);
  if (route == nullptr) return RECKONER_ERROR_ARGUMENT;
  *route = 0;
  reckoner_route_config c;
  reckoner_route_config_init(&c, sizeof c);
  if (const auto result = capi::read_struct(config, c); result != RECKONER_OK) return result;
  if (!makes_sense(c)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](Server& s) -> reckoner_result {
    const auto added = s.add_route(definition_of(c));
    if (!added) {
      capi::say(added.error(), why, why_size);
      return RECKONER_ERROR_REFUSED;
    }
    *route = added->value;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_route_length(const reckoner_server* server, reckoner_route route,
                                             double* length_m) {
  if (length_m == nullptr) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const Route* found = s.route(RouteId{route});
    if (found == nullptr) return RECKONER_ERROR_UNKNOWN;
    *length_m = found->length();
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_route_state(const reckoner_server* server, reckoner_route route,
                                            double distance_m, double speed_mps, double acceleration_mps2,
                                            reckoner_state* state) {
  if (state == nullptr || !std::isfinite(distance_m) || !std::isfinite(speed_mps) ||
      !std::isfinite(acceleration_mps2))
    return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const Route* found = s.route(RouteId{route});
    if (found == nullptr) return RECKONER_ERROR_UNKNOWN;
    *state = capi::to_c(found->state_at({distance_m, speed_mps, acceleration_mps2}, 0.0));
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_route_nearest(const reckoner_server* server, reckoner_route route,
                                              const double point[3], double* distance_m, double* away_m) {
  if (point == nullptr || distance_m == nullptr || !std::isfinite(point[0]) || !std::isfinite(point[1]) ||
      !std::isfinite(point[2]))
    return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const Route* found = s.route(RouteId{route});
    if (found == nullptr) return RECKONER_ERROR_UNKNOWN;
    const Route::Nearest nearest = found->nearest({point[0], point[1], point[2]});
    *distance_m = nearest.distance;
    if (away_m != nullptr) *away_m = nearest.distance_to_point;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_follow(reckoner_server* server, reckoner_entity entity,
                                       reckoner_route route) {
  return run(server, [&](Server& s) { return s.follow(entity_id(entity), RouteId{route}); });
}

reckoner_result reckoner_server_leave_route(reckoner_server* server, reckoner_entity entity) {
  return run(server, [&](Server& s) { return s.leave_route(entity_id(entity)); });
}

reckoner_result reckoner_server_move_along(reckoner_server* server, reckoner_entity entity, double distance_m,
                                           double speed_mps, double acceleration_mps2) {
  return run(server, [&](Server& s) {
    return s.move_along(entity_id(entity), {distance_m, speed_mps, acceleration_mps2});
  });
}
