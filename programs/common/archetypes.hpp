// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner::program {

/// The kinds of entity that the programs know, in the order that server and client agree on.
enum class Kind : std::size_t { body = 0, point = 1 };

/// A body has an orientation, a point has none. Clients take the thresholds from the server.
[[nodiscard]] inline std::vector<Archetype> archetypes(double threshold_m = 0.05,
                                                       double threshold_rad = 0.05) {
  Archetype body;
  body.name = "body";
  body.threshold_m = threshold_m;
  body.threshold_rad = threshold_rad;
  Archetype point = body;
  point.name = "point";
  point.has_orientation = false;
  return {body, point};
}

}  // namespace reckoner::program
