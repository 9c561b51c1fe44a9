// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

inline constexpr std::uint32_t kMaxRoutes = 4096;

/// The cubic pieces of all routes together, and the parts that their lengths are tabulated in: some 300 MB. A
/// route of 20 points has 600 or so, so that each of kMaxRoutes may have more.
inline constexpr std::size_t kMostRouteParts = std::size_t{1} << 22;

/// True if a definition can be sent: its enumerators are known, its numbers finite and at most 1e12.
[[nodiscard]] RECKONER_NET_API bool can_travel(const RouteDefinition& definition);

/// The routes that server and client agree on, by id. A route never moves and is never removed, so that
/// motions may point to it as long as the table lives.
///
/// Belongs to one thread at a time; the routes may be read from several.
class RECKONER_NET_API RouteTable {
 public:
  /// Makes the route with the next id. Fails with Route::make()'s reason, if it cannot travel, if there
  /// are kMaxRoutes already, or if it would have them exceed kMostRouteParts.
  [[nodiscard]] Result<RouteId> add(const RouteDefinition& definition);

  /// Null for an id that is not in use.
  [[nodiscard]] const Route* find(RouteId id) const;

  /// How many there are: their numbers go from 1 to this.
  [[nodiscard]] std::size_t size() const { return routes_.size(); }

 private:
  std::vector<std::unique_ptr<const Route>> routes_;
  std::size_t parts_ = 0;  // of all of them
};

}  // namespace reckoner
