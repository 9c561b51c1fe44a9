// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_archive.hpp"

#include <cstddef>
#include <optional>
#include <variant>

#include <reckoner/reckoning/route.hpp>

// The parts of a route's definition, for the bit archives. Numbers are sent unrounded: rounding would give
// server and client different curves.
//
// Argument-dependent lookup must find serialize(). So these functions are in the namespaces of the types.

namespace reckoner::wire {

inline constexpr double kMaxRouteNumber = 1e12;
inline constexpr int kMaxPasses = 15;

inline Real route_number(double& value) {
  return real(value, -kMaxRouteNumber, kMaxRouteNumber);
}

/// Writes or reads one bit, and the number if the bit is set.
template <class Archive>
void serialize_optional_number(Archive& archive, std::optional<double>& value) {
  bool present = value.has_value();
  archive(present);
  if (present && !value) value.emplace(0.0);
  if (present) archive(route_number(*value));
}

/// Gives `curve` the alternative with this index, empty, unless it has it already.
inline void select_curve(RouteCurve& curve, int kind) {
  if (curve.index() == static_cast<std::size_t>(kind)) return;
  if (kind == 0) curve.emplace<0>();
  if (kind == 1) curve.emplace<1>();
  if (kind == 2) curve.emplace<2>();
  if (kind == 3) curve.emplace<3>();
  static_assert(std::variant_size_v<RouteCurve> == 4);
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
void serialize(Archive& archive, CatmullRomRoute& r) {
  archive(wire::list(r.points, kMaxRoutePoints),
          wire::ranged(r.knots, 0, static_cast<int>(CatmullRomKnots::chordal)), r.reflect_ends);
}

template <class Archive>
void serialize(Archive& archive, TcbRoute& r) {
  archive(wire::list(r.keys, kMaxRoutePoints), wire::route_number(r.closing_time));
}

template <class Archive>
void serialize(Archive& archive, ChaikinRoute& r) {
  archive(wire::list(r.points, kMaxRoutePoints), wire::ranged(r.passes, 0, wire::kMaxPasses));
  wire::serialize_optional_number(archive, r.angle_limit);
  wire::serialize_optional_number(archive, r.outlier_limit);
}

template <class Archive>
void serialize(Archive& archive, PolylineRoute& r) {
  archive(wire::list(r.points, kMaxRoutePoints));
}

template <class Archive>
void serialize(Archive& archive, RouteDefinition& d) {
  using wire::route_number;
  auto kind = static_cast<int>(d.curve.index());
  archive(wire::ranged(kind, 0, static_cast<int>(std::variant_size_v<RouteCurve>) - 1),
          wire::ranged(d.wrap, 0, static_cast<int>(RouteWrap::ping_pong)),
          wire::ranged(d.facing, 0, static_cast<int>(RouteFacing::fixed)));
  wire::select_curve(d.curve, kind);
  std::visit([&](auto& curve) { archive(curve); }, d.curve);
  archive(d.up, route_number(d.orientation.w), route_number(d.orientation.x), route_number(d.orientation.y),
          route_number(d.orientation.z), route_number(d.tolerance));
}

}  // namespace reckoner
