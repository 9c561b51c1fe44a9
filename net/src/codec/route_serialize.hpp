// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_archive.hpp"

#include <optional>

#include <reckoner/reckoning/route.hpp>

// What a route's definition is made of, for the bit archives. Numbers travel as they are: rounding them would
// make two different curves of one route.
//
// serialize() is found by argument-dependent look-up, so these stand in the types' own namespaces.

namespace reckoner::wire {

inline constexpr double kMostRouteNumber = 1e12;
inline constexpr int kMostPasses = 15;

inline Real route_number(double& value) {
  return real(value, -kMostRouteNumber, kMostRouteNumber);
}

/// One bit, and the number if it is set.
template <class Archive>
void serialize_optional_number(Archive& archive, std::optional<double>& value) {
  bool present = value.has_value();
  archive(present);
  if (present && !value) value.emplace(0.0);
  if (present) archive(route_number(*value));
}

}  // namespace reckoner::wire

namespace glm {

template <class Archive>
void serialize(Archive& archive, dvec3& v) {
  archive(reckoner::wire::route_number(v.x), reckoner::wire::route_number(v.y),
          reckoner::wire::route_number(v.z));
}

}  // namespace glm

namespace reckoner {

template <class Archive>
void serialize(Archive& archive, TcbKey<glm::dvec3>& k) {
  using wire::route_number;
  archive(route_number(k.time), k.value, route_number(k.shape.tension), route_number(k.shape.continuity),
          route_number(k.shape.bias), route_number(k.ease_to), route_number(k.ease_from));
}

template <class Archive>
void serialize(Archive& archive, RouteDefinition& d) {
  using wire::route_number;
  archive(wire::ranged(d.kind, 0, static_cast<int>(RouteKind::kPolyline)),
          wire::ranged(d.wrap, 0, static_cast<int>(RouteWrap::kPingPong)),
          wire::ranged(d.facing, 0, static_cast<int>(RouteFacing::kFixed)));
  if (d.kind == RouteKind::kTcb) {
    archive(wire::list(d.keys, kMostRoutePoints), route_number(d.closing_time));
  } else {
    archive(wire::list(d.points, kMostRoutePoints));
  }
  if (d.kind == RouteKind::kCatmullRom) {
    archive(wire::ranged(d.knots, 0, static_cast<int>(CatmullRomKnots::kChordal)), d.reflect_ends);
  }
  if (d.kind == RouteKind::kChaikin) {
    archive(wire::ranged(d.passes, 0, wire::kMostPasses));
    wire::serialize_optional_number(archive, d.angle_limit);
    wire::serialize_optional_number(archive, d.outlier_limit);
  }
  archive(d.up, route_number(d.orientation.w), route_number(d.orientation.x), route_number(d.orientation.y),
          route_number(d.orientation.z), route_number(d.tolerance));
}

}  // namespace reckoner
