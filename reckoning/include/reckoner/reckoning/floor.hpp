// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The ground, below which the entities of an archetype never are. Prediction knows nothing of collisions: a
/// body that falls is predicted along its parabola, and without a floor it sinks into the ground until the
/// update about its landing arrives.
///
/// The floor is either a plane, or the height function of a terrain. It applies in the world frame; motions
/// relative to another entity and motions on a route ignore it. Positions and heights are measured from the
/// server's first origin (Server::set_origin()), m.
///
/// The server and every client must use the same floor, because the server decides with it which updates the
/// clients need.
struct Floor {
  glm::dvec3 up{0.0, 0.0, 1.0};  ///< the direction against gravity, a unit vector
  double height_m = 0.0;         ///< the plane contains all points p for which dot(p, up) is this value, m
  /// If it is not empty, it replaces `height_m`: the height of the ground below or above `position`, measured
  /// along `up`, m. It returns a value that is not finite where there is no ground. It is called for every
  /// shown entity in every picture, by all threads of a server (ServerConfig::threads), and must not throw.
  std::function<double(const glm::dvec3& position)> height{};
};

/// A state that is below the floor, moved up to it. Its velocity then follows the ground, and its
/// acceleration does not lead downwards. Any other state is returned as it is.
[[nodiscard]] RECKONER_RECKONING_API State above_floor(const State& state, const Floor& floor);

}  // namespace reckoner
