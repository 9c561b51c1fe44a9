// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_table.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// True if a motion on `route` is finite and within the archetype's limits, and so can be sent.
[[nodiscard]] RECKONER_NET_API bool can_travel(const RouteState& along, const Route& route,
                                               const Quantisation& quantisation);

/// Rounds a motion on a route to the nearest steps. It must be can_travel().
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(RouteId id, const Route& route,
                                                       const RouteState& along, std::uint8_t teleports,
                                                       std::uint8_t precision,
                                                       const Quantisation& quantisation);

/// What a client makes of a motion, free or on a route, to the last bit. Nothing if a number lies beyond the
/// archetype's limits or the route's ends, or if `routes` has no such route. The motion points into `routes`.
[[nodiscard]] RECKONER_NET_API std::optional<Motion> motion_of(const QuantisedState& quantised, double time_s,
                                                               const Quantisation& quantisation,
                                                               const RouteTable& routes);

/// Why motion_of() gives nothing.
[[nodiscard]] inline Refusal why_no_motion(const QuantisedState& quantised, const RouteTable& routes) {
  const RouteId route = quantised.along.route;
  return route && routes.find(route) == nullptr ? Refusal::unknown_route : Refusal::beyond_limits;
}

}  // namespace reckoner
