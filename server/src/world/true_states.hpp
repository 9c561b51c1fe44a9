// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "server/src/util/server_time.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <glm/vec3.hpp>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The true states of entities, as the game gives them. A state that is stored is within the limits of its
/// archetype, and a move of the game is not faster than the archetype's top speed.
///
/// The game's coordinates in the world frame are relative to origin(). All other parts of the server count
/// from the origin of the server's world.
class TrueStates {
 public:
  /// All arguments must outlive this object. `quantisation`: index: archetype.
  TrueStates(const ServerConfig& config, std::span<const Quantisation> quantisation, const ServerTime& time,
             EntityTable& entities)
      : config_(config), quantisation_(quantisation), time_(time), entities_(entities) {}

  /// The origin of the game's coordinates, m, in the server's world.
  [[nodiscard]] const glm::dvec3& origin() const { return origin_; }
  void set_origin(const glm::dvec3& origin) { origin_ = origin; }
  /// Converts a state in `frame` from the game's coordinates to the server's. Only positions in the world
  /// frame change.
  [[nodiscard]] State to_server_coordinates(const State& given, EntityId frame) const {
    State state = given;
    if (!frame) state.position += origin_;
    return state;
  }
  /// The part of `truth` that is published: without orientation and angular velocity if the archetype has no
  /// orientation.
  [[nodiscard]] State publishable(const State& truth, std::size_t archetype) const;

  /// What the functions of Server with these names do.
  CallResult move(EntityId id, const State& truth);
  CallResult move_along(EntityId id, const RouteState& along);
  [[nodiscard]] std::optional<State> state(EntityId id) const;
  [[nodiscard]] std::optional<State> in_world(EntityId id) const;

  /// The game moves the entity to `truth`, in the server's coordinates. From now on, the server does not move
  /// it even if it is short-lived. Changes nothing but this if the state is beyond the limits.
  CallResult set_from_game(Entity& entity, const State& truth);
  /// Stores a state, in the server's coordinates, and wakes the entity. Changes nothing if the state is
  /// beyond the limits.
  CallResult set(Entity& entity, const State& truth);

 private:
  [[nodiscard]] bool spend_move(Entity& entity, const glm::dvec3& to) const;

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // index: archetype
  const ServerTime& time_;
  EntityTable& entities_;
  glm::dvec3 origin_{0.0};
};

}  // namespace reckoner
