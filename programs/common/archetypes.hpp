// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner::program {

/// The archetypes of the programs. Server and client declare them in this order.
enum class Kind : std::size_t { body = 0, point = 1 };

/// A body has an orientation and a point has none. The thresholds and the source of velocities matter only at
/// the server; clients receive the thresholds from the server.
[[nodiscard]] inline std::vector<Archetype> archetypes(double threshold_m = 0.05, double threshold_rad = 0.05,
                                                       VelocitySource velocity = VelocitySource::automatic) {
  Archetype body;
  body.name = "body";
  body.threshold_m = threshold_m;
  body.threshold_rad = threshold_rad;
  body.velocity = velocity;
  Archetype point = body;
  point.name = "point";
  point.has_orientation = false;
  return {body, point};
}

}  // namespace reckoner::program
