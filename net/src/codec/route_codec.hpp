// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

inline constexpr std::uint32_t kMaxRoutes = 4096;

/// Limit for all routes together: the number of cubic pieces plus the number of entries in arc-length tables.
/// The maximum needs about 300 MB. A route of 20 points has about 600, so each of kMaxRoutes routes may have
/// more.
inline constexpr std::size_t kMaxRouteParts = std::size_t{1} << 22;

/// True if a definition can be sent: its enumerators are valid, its lists are not too long, its numbers are
/// finite and at most 1e12, and it has at most 15 passes.
[[nodiscard]] RECKONER_NET_API bool is_encodable(const RouteDefinition& definition);

/// The routes that server and client share, by id. A route is never moved or removed, so motions may point to
/// it as long as the table exists.
///
/// Not thread-safe, but several threads may read the routes.
class RECKONER_NET_API RouteTable {
 public:
  /// Creates a route with the next id. Fails if Route::make() fails (with its message), if the definition
  /// cannot be sent, if there are already kMaxRoutes routes, or if all routes together would exceed
  /// kMaxRouteParts.
  [[nodiscard]] Result<RouteId> add(const RouteDefinition& definition);

  /// Returns null for an unknown id.
  [[nodiscard]] const Route* find(RouteId id) const;

  /// Number of routes. Their ids are 1 to size().
  [[nodiscard]] std::size_t size() const { return routes_.size(); }

 private:
  std::vector<std::unique_ptr<const Route>> routes_;
  std::size_t parts_ = 0;  // of all routes together
};

/// True if a motion on `route` is finite and within the archetype's limits, so that it can be sent.
[[nodiscard]] RECKONER_NET_API bool is_encodable(const RouteState& along, const Route& route,
                                                 const Quantisation& quantisation);

/// Rounds a motion on a route to the nearest steps. is_encodable() must be true for it.
[[nodiscard]] RECKONER_NET_API QuantisedState quantise(RouteId id, const Route& route,
                                                       const RouteState& along, std::uint8_t teleports,
                                                       std::uint8_t precision,
                                                       const Quantisation& quantisation);

/// Converts steps to the motion that a client shows, free or on a route, bit-identical on both ends. Returns
/// nullopt if a number is beyond the archetype's limits or the ends of the route, or if `routes` does not
/// contain the route. The motion points into `routes`.
[[nodiscard]] RECKONER_NET_API std::optional<Motion> motion_of(const QuantisedState& quantised, double time_s,
                                                               const Quantisation& quantisation,
                                                               const RouteTable& routes);

/// The reason why motion_of() returned nullopt.
[[nodiscard]] inline Refusal refusal_for(const QuantisedState& quantised, const RouteTable& routes) {
  const RouteId route = quantised.along.route;
  return route && routes.find(route) == nullptr ? Refusal::unknown_route : Refusal::beyond_limits;
}

}  // namespace reckoner
