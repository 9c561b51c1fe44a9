// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// A solid box.
struct WallBox {
  glm::dvec3 centre{0.0};                         ///< m
  glm::dvec3 half_size{0.5};                      ///< half of the edges along the box's own axes, m; above 0
  glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};  ///< box to world, unit
};

/// The largest number of boxes of one archetype.
inline constexpr std::size_t kMaxWallBoxes = 4096;

/// The obstacles, behind which the entities of an archetype never are. Prediction knows nothing of
/// collisions: a car that hits a wall is predicted straight on, and without walls it is shown behind the wall
/// until the update about the hit arrives.
///
/// A predicted entity that reaches a box loses the velocity and the acceleration towards it, and slides
/// along it. Shown positions are moved out of boxes. The walls apply in the world frame; motions relative to
/// another entity and motions on a route ignore them. Positions are measured from the server's first origin
/// (Server::set_origin()), m. An entity ignores a box if the server puts it deeper than 5 cm into that box.
///
/// The server and every client must use the same walls, because the server decides with them which updates
/// the clients need.
struct Walls {
  std::vector<WallBox> boxes;  ///< at most kMaxWallBoxes; the costs of an entity grow with their number
  double margin_m = 0.0;       ///< the distance that positions keep from boxes, m; the radius of the entities
  /// For obstacles that are no boxes; may be empty. Returns the point that an entity reaches if it moves
  /// straight from `from` to `to`: `to` if nothing is between them. `from` is in front of all obstacles. The
  /// point should change continuously with `to`, because the entity is shown there. A point that is not
  /// finite counts as `to`. It is called for every shown entity in every picture, twice more while something
  /// stops the entity, by all threads of a server (ServerConfig::threads), and must not throw.
  std::function<glm::dvec3(const glm::dvec3& from, const glm::dvec3& to)> reach{};
};

/// The state that an entity reaches if it moves straight from the position `from` to `state`: where it is
/// stopped, it slides along the wall, and its velocity and its acceleration do not lead into the wall.
/// Returns `state` if no wall stops the entity.
[[nodiscard]] RECKONER_RECKONING_API State stopped_by_walls(const State& state, const Walls& walls,
                                                            const glm::dvec3& from);

}  // namespace reckoner
